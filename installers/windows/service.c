/* wingbeat-service.exe: has the agent run as a service of Windows, from boot on, whoever is logged in.
 *
 * The service manager starts it under an account of its own (NT SERVICE\Wingbeat), which may change its own
 * folder in ProgramData and nothing else. It tells the agent where that is, holds the input of its process,
 * and closes it when it is to stop: the agent hands back what it runs, and ends. It would also end so if this
 * process died. What cannot be told elsewhere, because there is no agent, is in the first file of its logs.
 *
 * sessions.exe sends the number LEAVE in place of stop where the program is removed: then everything that
 * only this machine keeps is handed over, and the flock is left, before the agent ends.
 */
#include <windows.h>
#include <shlobj.h>
#include <stdio.h>
#include <wchar.h>
#include "service.h"

#define LINE_MAX 2048
#define STEP_MS 1000
#define NEXT_STEP_MS 10000

static SERVICE_STATUS_HANDLE manager;
static SERVICE_STATUS status = {.dwServiceType = SERVICE_WIN32_OWN_PROCESS};
static HANDLE asked;
static volatile LONG leaves;

static void tell(DWORD state, DWORD fault) {
    status.dwCurrentState = state;
    status.dwControlsAccepted =
        state == SERVICE_RUNNING ? SERVICE_ACCEPT_STOP | SERVICE_ACCEPT_PRESHUTDOWN : 0;
    status.dwWin32ExitCode = fault;
    status.dwCheckPoint = state == SERVICE_RUNNING || state == SERVICE_STOPPED ? 0 : status.dwCheckPoint + 1;
    status.dwWaitHint = state == SERVICE_RUNNING || state == SERVICE_STOPPED ? 0 : NEXT_STEP_MS;
    SetServiceStatus(manager, &status);
}

static DWORD WINAPI hear(DWORD control, DWORD kind, void *data, void *own) {
    (void)kind, (void)data, (void)own;
    if (control == SERVICE_CONTROL_INTERROGATE)
        return NO_ERROR;
    if (control != SERVICE_CONTROL_STOP && control != SERVICE_CONTROL_PRESHUTDOWN && control != LEAVE)
        return ERROR_CALL_NOT_IMPLEMENTED;
    if (control == LEAVE)
        InterlockedExchange(&leaves, 1);
    SetEvent(asked);
    return NO_ERROR;
}

/* Wait for the process, and tell the manager meanwhile that it goes on; whether it has ended in time. */
static BOOL ends(HANDLE process, DWORD within_ms) {
    for (DWORD waited = 0; waited < within_ms; waited += STEP_MS) {
        if (WaitForSingleObject(process, STEP_MS) == WAIT_OBJECT_0)
            return TRUE;
        tell(SERVICE_STOP_PENDING, NO_ERROR);
    }
    return FALSE;
}

/* Where the agent keeps what it keeps, by the words that a service of Linux is told it with. */
static void tell_places(wchar_t *logs) {
    wchar_t common[MAX_PATH], top[LINE_MAX], cache[LINE_MAX];
    SHGetFolderPathW(NULL, CSIDL_COMMON_APPDATA, NULL, 0, common);
    _snwprintf(top, LINE_MAX - 1, L"%ls\\Wingbeat\\service", common);
    _snwprintf(logs, LINE_MAX - 1, L"%ls\\log", top);
    _snwprintf(cache, LINE_MAX - 1, L"%ls\\cache", top);
    SetEnvironmentVariableW(L"STATE_DIRECTORY", top);
    SetEnvironmentVariableW(L"LOGS_DIRECTORY", logs);
    SetEnvironmentVariableW(L"CACHE_DIRECTORY", cache);
    SetEnvironmentVariableW(L"RUNTIME_DIRECTORY", L"\\\\.\\pipe\\");
    SetEnvironmentVariableW(L"LOCALAPPDATA", cache); /* what Python compiles */
    CreateDirectoryW(logs, NULL);
    CreateDirectoryW(cache, NULL);
}

/* Start the command of this folder with these words; its process, or NULL. */
static HANDLE run(const wchar_t *words, HANDLE input, HANDLE output) {
    wchar_t own[LINE_MAX], line[2 * LINE_MAX];
    STARTUPINFOW how = {.cb = sizeof how, .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION made;
    GetModuleFileNameW(NULL, own, LINE_MAX - 32);
    wcscpy(wcsrchr(own, L'\\') + 1, L"wingbeat.exe");
    _snwprintf(line, 2 * LINE_MAX - 1, L"\"%ls\" %ls", own, words);
    how.hStdInput = input, how.hStdOutput = how.hStdError = output;
    if (!CreateProcessW(own, line, NULL, NULL, TRUE, CREATE_NO_WINDOW, NULL, NULL, &how, &made))
        return NULL;
    CloseHandle(made.hThread);
    return made.hProcess;
}

static void WINAPI serve(DWORD count, wchar_t **words) {
    (void)count, (void)words;
    static wchar_t logs[LINE_MAX], said[LINE_MAX];
    SECURITY_ATTRIBUTES handed_down = {.nLength = sizeof handed_down, .bInheritHandle = TRUE};
    HANDLE input, held, agent;
    DWORD code = 1;
    manager = RegisterServiceCtrlHandlerExW(SERVICE, hear, NULL);
    tell(SERVICE_START_PENDING, NO_ERROR);
    asked = CreateEventW(NULL, TRUE, FALSE, NULL);
    tell_places(logs);
    _snwprintf(said, LINE_MAX - 1, L"%ls\\started.txt", logs);
    HANDLE output = CreateFileW(said, GENERIC_WRITE, FILE_SHARE_READ, &handed_down, CREATE_ALWAYS, 0, NULL);
    if (!CreatePipe(&input, &held, &handed_down, 0) ||
        !SetHandleInformation(held, HANDLE_FLAG_INHERIT, 0) ||
        !(agent = run(L"agent --until-input-ends", input, output))) {
        tell(SERVICE_STOPPED, GetLastError());
        return;
    }
    CloseHandle(input);
    tell(SERVICE_RUNNING, NO_ERROR);
    HANDLE either[] = {agent, asked};
    if (WaitForMultipleObjects(2, either, FALSE, INFINITE) != WAIT_OBJECT_0) {
        tell(SERVICE_STOP_PENDING, NO_ERROR);
        HANDLE leaving = leaves ? run(L"depart", NULL, output) : NULL;
        if (leaving && !ends(leaving, LEAVE_MS))
            TerminateProcess(leaving, 1);
        CloseHandle(held);
        if (!ends(agent, STOP_MS))
            TerminateProcess(agent, 1);
        tell(SERVICE_STOPPED, NO_ERROR);
        return;
    }
    GetExitCodeProcess(agent, &code); /* it was stopped by an administrator, or there is a fault: try again */
    status.dwServiceSpecificExitCode = code;
    tell(SERVICE_STOPPED, code ? ERROR_SERVICE_SPECIFIC_ERROR : NO_ERROR);
}

int wmain(void) {
    SERVICE_TABLE_ENTRYW services[] = {{(wchar_t *)SERVICE, serve}, {NULL, NULL}};
    return StartServiceCtrlDispatcherW(services) ? 0 : 1; /* 1: started by hand, which does nothing */
}

int WINAPI wWinMain(HINSTANCE own, HINSTANCE before, PWSTR line, int shown) {
    (void)own, (void)before, (void)line, (void)shown;
    return wmain();
}
