; wingbeat-setup.exe: installs the folder for everybody on a machine, in place of an older setup or MSI.
;
; What runs is ended before, files are put where nothing uses any, and whoever had a tray gets it back.
; Silent (/S) shows nothing, waits until it is done and never reboots. It ends with 0; 3 for arguments that
; make no sense, 4 when something of the old folder cannot be ended or replaced, 5 when an MSI stays.
Unicode true
Target amd64-unicode
SetCompressor /SOLID lzma
RequestExecutionLevel admin
ManifestDPIAware true
ManifestSupportedOS all
Name "Wingbeat"
OutFile "${OUT}"
Icon "${ICON}"
UninstallIcon "${ICON}"
InstallDir "$PROGRAMFILES64\Wingbeat"
InstallDirRegKey HKLM "${UNINSTALL}" "InstallLocation"
VIProductVersion ${NUMBERS}
VIAddVersionKey ProductName "Wingbeat"
VIAddVersionKey CompanyName "Wingbeat"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey ProductVersion "${VERSION}"
VIAddVersionKey FileDescription "Wingbeat setup"
VIAddVersionKey LegalCopyright "Apache-2.0"
!include FileFunc.nsh
!include LogicLib.nsh
!include Sections.nsh
!include x64.nsh
!include "${ENTRIES}"

Page components
Page directory
Page instfiles
UninstPage uninstConfirm
UninstPage instfiles

Var parameters
Var invitation
Var help
Var firewall
Var autostart
Var service

!macro Fail CODE TEXT
    SetErrorLevel ${CODE}
    ${IfNot} ${Silent}
        MessageBox MB_ICONSTOP|MB_OK "${TEXT}"
    ${EndIf}
    Quit
!macroend

; ACT is end, or leave where the program goes for good.
!macro End ACT FOLDER
    nsExec::ExecToLog '"$PLUGINSDIR\sessions.exe" ${ACT} "${FOLDER}"'
    Pop $0
!macroend

Section "Wingbeat" main
    SectionIn RO
    InitPluginsDir
    SetOutPath "$PLUGINSDIR"
    File "${FOLDER}\sessions.exe"
    ; What runs needs seconds to hand back its work: the files are unpacked meanwhile, beside the old ones.
    DetailPrint "Ending what runs of Wingbeat"
    Exec '"$PLUGINSDIR\sessions.exe" end "$INSTDIR"'
    RMDir /r "$INSTDIR.new"
    SetOutPath "$INSTDIR.new"
    File /r "${FOLDER}\*.*"
    SetOutPath "$TEMP"
    !insertmacro End end "$INSTDIR"
    ${If} $0 <> 0
        RMDir /r "$INSTDIR.new"
        Call StartAgain
        !insertmacro Fail 4 "Something in $INSTDIR still runs, and cannot be ended. Nothing was changed."
    ${EndIf}
    Call RemoveMsi
    RMDir /r "$INSTDIR.old"
    ${If} ${FileExists} "$INSTDIR\*.*"
        ClearErrors
        Rename "$INSTDIR" "$INSTDIR.old"
        ${If} ${Errors}
            RMDir /r "$INSTDIR.new"
            Call StartAgain
            !insertmacro Fail 4 "Something uses files in $INSTDIR. Nothing was changed."
        ${EndIf}
    ${EndIf}
    Rename "$INSTDIR.new" "$INSTDIR"
    SetOutPath "$INSTDIR"
    WriteUninstaller "$INSTDIR\uninstall.exe"
    CreateShortCut "$SMPROGRAMS\Wingbeat.lnk" "$INSTDIR\wingbeat-tray.exe"
    !insertmacro WriteEntries
    WriteRegStr HKLM "${UNINSTALL}" "InstallLocation" "$INSTDIR"
    WriteRegStr HKLM "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
    WriteRegStr HKLM "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S _?=$INSTDIR'
    WriteRegDWORD HKLM "${UNINSTALL}" "EstimatedSize" ${SIZE_KIB}
    WriteRegDWORD HKLM "${UNINSTALL}" "NoModify" 1
    WriteRegDWORD HKLM "${UNINSTALL}" "NoRepair" 1
    WriteRegStr HKLM "Software\Wingbeat" "AutoStart" "0"
    DeleteRegValue HKLM "${RUN}" "Wingbeat"
SectionEnd

Section "Start at each login" at_login
    WriteRegStr HKLM "${RUN}" "Wingbeat" '"$INSTDIR\wingbeat-tray.exe" --at-login'
    WriteRegStr HKLM "Software\Wingbeat" "AutoStart" "1"
SectionEnd

Section /o "Let other machines in (firewall)" let_in
    StrCpy $firewall "1"
SectionEnd

Section /o "Service, also while nobody is logged in" as_service
    StrCpy $service "1"
SectionEnd

Section "-rest"
    SetOutPath "$TEMP"
    RMDir /r "$INSTDIR.old"
    nsExec::ExecToLog '"$INSTDIR\python.exe" -B "$INSTDIR\administer.py" lay-down "--invitation=$invitation" \
        "--help-others=$help" "--firewall=$firewall" "--service=$service"'
    Pop $0
    ${If} $0 <> 0
        SetErrorLevel 3
    ${EndIf}
    Call StartAgain
SectionEnd

Function .onInit
    SetRegView 64
    SetShellVarContext all
    ${GetParameters} $parameters
    ClearErrors
    ${GetOptions} $parameters "/SERVICE" $0
    ${If} ${Errors}
        StrCpy $service ""
    ${ElseIf} $0 == "=1"
        !insertmacro SelectSection ${as_service}
    ${ElseIf} $0 == "=0"
        StrCpy $service "0"
    ${Else}
        !insertmacro Fail 3 "/SERVICE is 0 or 1: /SERVICE=1."
    ${EndIf}
    ${GetOptions} $parameters "/HELP=" $help
    ${If} $help != ""
    ${AndIf} $help != "idle"
    ${AndIf} $help != "never"
        !insertmacro Fail 3 "/HELP is idle or never, not $help."
    ${EndIf}
    ${GetOptions} $parameters "/INVITATIONFILE=" $invitation
    ${If} $invitation != ""
    ${AndIfNot} ${FileExists} "$invitation"
        !insertmacro Fail 3 "There is no file $invitation."
    ${EndIf}
    ${GetOptions} $parameters "/FIREWALL=" $0
    ${If} $0 == "1"
        !insertmacro SelectSection ${let_in}
    ${EndIf}
    ${GetOptions} $parameters "/AUTOSTART=" $autostart
    ${If} $autostart == ""
        ReadRegStr $autostart HKLM "Software\Wingbeat" "AutoStart"
    ${EndIf}
    ${If} $autostart == "0"
        !insertmacro UnselectSection ${at_login}
    ${EndIf}
    ${If} ${FileExists} "$INSTDIR\*.*"
    ${AndIfNot} ${FileExists} "$INSTDIR\wingbeat.exe"
    ${AndIfNot} ${FileExists} "$INSTDIR\Lib\site-packages\agent\*.*"
        ${DirState} "$INSTDIR" $0
        ${If} $0 == 1
            !insertmacro Fail 3 "$INSTDIR holds something else."
        ${EndIf}
    ${EndIf}
FunctionEnd

Function StartAgain
    nsExec::ExecToLog '"$PLUGINSDIR\sessions.exe" start "$INSTDIR"'
    Pop $0
FunctionEnd

; What could not be written in whole is taken back; the old files are still there.
Function .onInstFailed
    SetOutPath "$TEMP"
    RMDir /r "$INSTDIR.new"
    ${If} ${FileExists} "$INSTDIR.old\wingbeat.exe"
        SetOutPath "$TEMP"
        RMDir /r "$INSTDIR"
        Rename "$INSTDIR.old" "$INSTDIR"
    ${EndIf}
    Call StartAgain
    SetErrorLevel 4
FunctionEnd

Function RemoveMsi
    ${For} $R0 1 8
        System::Call 'msi::MsiEnumRelatedProductsW(w "${UPGRADE_CODE}", i 0, i 0, w .r1) i .r0'
        ${If} $0 <> 0
            Return
        ${EndIf}
        DetailPrint "Removing $1"
        nsExec::ExecToLog '"$SYSDIR\msiexec.exe" /x $1 /qn /norestart REPLACED=1'
        Pop $0
        ${If} $0 <> 0
            RMDir /r "$INSTDIR.new"
            Call StartAgain
            !insertmacro Fail 5 "The Wingbeat that an MSI has installed cannot be removed ($0)."
        ${EndIf}
    ${Next}
FunctionEnd

Function un.onInit
    SetRegView 64
    SetShellVarContext all
FunctionEnd

Section Uninstall
    ${GetParameters} $parameters
    ${IfNot} ${FileExists} "$INSTDIR\wingbeat.exe"
        !insertmacro Fail 4 "$INSTDIR holds no Wingbeat."
    ${EndIf}
    InitPluginsDir
    SetOutPath "$TEMP"
    CopyFiles /SILENT "$INSTDIR\sessions.exe" "$PLUGINSDIR"
    StrCpy $R1 "end"
    ClearErrors
    ${GetOptions} $parameters "/REPLACED" $0
    ${If} ${Errors}
        StrCpy $R1 "leave"
    ${EndIf}
    DetailPrint "Ending what runs of Wingbeat"
    !insertmacro End $R1 "$INSTDIR"
    ${If} $0 <> 0
        !insertmacro Fail 4 "Something in $INSTDIR still runs, and cannot be ended. Nothing was changed."
    ${EndIf}
    ${If} $R1 == "leave"
        ClearErrors
        StrCpy $1 "1"
        ${GetOptions} $parameters "/PURGE" $0
        ${If} ${Errors}
            StrCpy $1 "0"
        ${EndIf}
        nsExec::ExecToLog '"$INSTDIR\python.exe" -B "$INSTDIR\administer.py" take-away "--purge=$1"'
        Pop $0
        DeleteRegKey HKLM "Software\Wingbeat"
    ${EndIf}
    Delete "$SMPROGRAMS\Wingbeat.lnk"
    !insertmacro DeleteEntries
    DeleteRegValue HKLM "${RUN}" "Wingbeat"
    DeleteRegKey HKLM "${UNINSTALL}"
    RMDir /r "$INSTDIR"
    ; Run in place (_?=) it is a program that runs, which may be moved but not deleted (by Wine neither), so
    ; what is left is deleted a moment after it has ended.
    ${If} ${FileExists} "$INSTDIR\uninstall.exe"
        GetTempFileName $1
        Rename "$INSTDIR\uninstall.exe" "$1.exe"
        RMDir "$INSTDIR"
        FileOpen $2 "$1.bat" w
        FileWrite $2 '@ping -n 2 127.0.0.1 >nul$\r$\n@del "$1.exe"$\r$\n@del "$INSTDIR\uninstall.exe"$\r$\n'
        FileWrite $2 '@rmdir "$INSTDIR"$\r$\n@del "$1"$\r$\n@del "$1.bat"$\r$\n'
        FileClose $2
        ExecShell "open" "$1.bat" "" SW_HIDE
    ${EndIf}
    ${If} ${FileExists} "$INSTDIR\wingbeat.exe"
        SetErrorLevel 4
    ${EndIf}
SectionEnd
