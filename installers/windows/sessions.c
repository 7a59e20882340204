/* sessions.exe, for the setup programs: ends what runs of a folder, in whosever session, and starts it again.
 *
 *     sessions end FOLDER     has trays and agents hand back what they run (wingbeat-tray --quit), then
 *                             ends what is left; returns 0 when nothing of the folder runs any more
 *     sessions leave FOLDER   the same, and has each hand over its results and leave its flock before
 *     sessions start FOLDER   starts the trays and agents again that the last end has ended
 *     sessions unset          removes what the setup program (not the MSI) has installed
 *
 * The service of the machine, where it runs, is ended and started first: it is told by its own manager, and
 * is no session's.
 *
 * A setup program runs as an administrator, or as the system; trays and agents belong to people. So each
 * is asked by a process of its own person, made with the token of the process that is to end, and started
 * again with the token of that session's shell, which is never an elevated one. Who is to be started is
 * kept in a key of the registry that administrators alone may write. Windows only replaces files that
 * nobody uses, so "ended" means that the processes are gone.
 */
#include <windows.h>
#include <tlhelp32.h>
#include <userenv.h>
#include <winternl.h>
#include <stdio.h>
#include <wchar.h>
#include "service.h"

#define FOUND_MAX 256
#define QUIT_MS 80000 /* wingbeat-tray --quit gives up after 75 s */
#define PART_MS 190000 /* and --leave hands over for 60 s and leaves within 45 s before */
#define GONE_MS 10000
#define LOOK_MS 100
#define UNSET_MS 60000
#define LINE_MAX 2048
#define KEPT L"Software\\Wingbeat\\Sessions"
#define SETUP L"Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\Wingbeat"
#define COMMAND_LINE_INFORMATION 60

static const wchar_t TRAY[] = L"wingbeat-tray.exe", AGENT[] = L"wingbeat.exe";
static const wchar_t OWN_CALLER[] = L"uninstall.exe"; /* runs in the folder that it removes */

struct found {
    DWORD process, session;
    wchar_t name[MAX_PATH];
};

/* The processes whose program lies in the folder, this one apart. */
static int find(const wchar_t *folder, struct found *all) {
    int count = 0;
    size_t length = wcslen(folder);
    PROCESSENTRY32W each = {.dwSize = sizeof each};
    HANDLE shot = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    for (BOOL more = Process32FirstW(shot, &each); more && count < FOUND_MAX;
         more = Process32NextW(shot, &each)) {
        wchar_t image[LINE_MAX];
        DWORD size = LINE_MAX;
        HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, each.th32ProcessID);
        if (!process)
            continue;
        if (each.th32ProcessID != GetCurrentProcessId() &&
            QueryFullProcessImageNameW(process, 0, image, &size) &&
            !_wcsnicmp(image, folder, length) && image[length] == L'\\' &&
            _wcsicmp(image + length + 1, OWN_CALLER) &&
            ProcessIdToSessionId(each.th32ProcessID, &all[count].session)) {
            all[count].process = each.th32ProcessID;
            wcsncpy(all[count].name, wcsrchr(image, L'\\') + 1, MAX_PATH - 1);
            all[count].name[MAX_PATH - 1] = 0;
            count++;
        }
        CloseHandle(process);
    }
    CloseHandle(shot);
    return count;
}

/* Whether its command line has these words. */
static BOOL says(const struct found *one, const wchar_t *words) {
    static BYTE told[65536];
    BOOL found = FALSE;
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, one->process);
    if (process &&
        NtQueryInformationProcess(process, COMMAND_LINE_INFORMATION, told, sizeof told - 2, NULL) >= 0)
        found = wcsstr(((UNICODE_STRING *)told)->Buffer, words) != NULL;
    if (process)
        CloseHandle(process);
    return found;
}

/* Not a command that asks one; an update asks twice, and the first question may still be under way. */
static BOOL is_agent(const struct found *one) {
    return !_wcsicmp(one->name, AGENT) && says(one, L" agent");
}

static BOOL is_tray(const struct found *one) {
    return !_wcsicmp(one->name, TRAY) && !says(one, L" --quit") && !says(one, L" --leave");
}

/* Start a command as whoever that process belongs to, in their session; the new process, or NULL. */
static HANDLE run_like(DWORD process, wchar_t *line) {
    HANDLE of = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, process), token = NULL, own = NULL;
    STARTUPINFOW how = {.cb = sizeof how, .lpDesktop = L"winsta0\\default"};
    PROCESS_INFORMATION made = {0};
    void *environment = NULL;
    wchar_t folder[MAX_PATH];
    GetSystemDirectoryW(folder, MAX_PATH); /* not the one that is to be replaced */
    if (of && OpenProcessToken(of, TOKEN_DUPLICATE | TOKEN_QUERY, &token) &&
        DuplicateTokenEx(token, MAXIMUM_ALLOWED, NULL, SecurityImpersonation, TokenPrimary, &own)) {
        DWORD flags = CREATE_UNICODE_ENVIRONMENT | CREATE_NO_WINDOW;
        if (!CreateEnvironmentBlock(&environment, own, FALSE))
            environment = NULL, flags = CREATE_NO_WINDOW;
        if (!CreateProcessWithTokenW(own, 0, NULL, line, flags, environment, folder, &how, &made))
            CreateProcessAsUserW(own, NULL, line, NULL, NULL, FALSE, flags, environment, folder, &how,
                                 &made);
    }
    if (environment)
        DestroyEnvironmentBlock(environment);
    HANDLE all[] = {of, token, own, made.hThread};
    for (int each = 0; each < 4; each++)
        if (all[each])
            CloseHandle(all[each]);
    return made.hProcess;
}

static void keep(const wchar_t *name, BOOL tray) {
    HKEY key;
    DWORD old = 0, size = sizeof old, value = tray;
    if (RegCreateKeyExW(HKEY_LOCAL_MACHINE, KEPT, 0, NULL, 0, KEY_ALL_ACCESS | KEY_WOW64_64KEY, NULL, &key,
                        NULL))
        return;
    if (RegQueryValueExW(key, name, NULL, NULL, (BYTE *)&old, &size) || value > old)
        RegSetValueExW(key, name, 0, REG_DWORD, (BYTE *)&value, sizeof value);
    RegCloseKey(key);
}

/* Wait for the service to get there; whether it has. */
static BOOL becomes(SC_HANDLE service, DWORD state, DWORD within_ms) {
    SERVICE_STATUS now;
    for (DWORD waited = 0; QueryServiceStatus(service, &now); waited += LOOK_MS) {
        if (now.dwCurrentState == state || waited >= within_ms)
            return now.dwCurrentState == state;
        Sleep(LOOK_MS);
    }
    return FALSE;
}

static void with_service(void (*act)(SC_HANDLE, BOOL), BOOL leaves) {
    SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT);
    SC_HANDLE service = manager ? OpenServiceW(manager, SERVICE, SERVICE_ALL_ACCESS) : NULL;
    if (service) {
        act(service, leaves);
        CloseServiceHandle(service);
    }
    if (manager)
        CloseServiceHandle(manager);
}

static void end_service(SC_HANDLE service, BOOL leaves) {
    SERVICE_STATUS now;
    if (!QueryServiceStatus(service, &now) || now.dwCurrentState == SERVICE_STOPPED)
        return;
    keep(SERVICE, TRUE);
    if (now.dwCurrentState == SERVICE_START_PENDING)
        becomes(service, SERVICE_RUNNING, GONE_MS); /* it takes no word before */
    if (now.dwCurrentState != SERVICE_STOP_PENDING) /* an update asks twice */
        ControlService(service, leaves ? LEAVE : SERVICE_CONTROL_STOP, &now);
    becomes(service, SERVICE_STOPPED, leaves ? LEAVE_MS + STOP_MS : STOP_MS + GONE_MS);
}

static void start_service(SC_HANDLE service, BOOL unused) {
    (void)unused;
    StartServiceW(service, 0, NULL);
}

static int end(const wchar_t *folder, BOOL leaves) {
    static struct found all[FOUND_MAX];
    HANDLE asking[FOUND_MAX];
    int asked = 0, count;
    with_service(end_service, leaves);
    count = find(folder, all);
    for (int each = 0; each < count; each++) {
        BOOL tray = is_tray(&all[each]), first = TRUE;
        wchar_t session[16];
        if (!tray && !is_agent(&all[each]))
            continue;
        _snwprintf(session, 16, L"%lu", all[each].session);
        keep(session, tray);
        for (int other = 0; other < each; other++)
            first &= all[other].session != all[each].session;
        wchar_t line[LINE_MAX];
        _snwprintf(line, LINE_MAX, L"\"%ls\\%ls\" %ls", folder, TRAY, leaves ? L"--leave" : L"--quit");
        HANDLE made = first && asked < MAXIMUM_WAIT_OBJECTS ? run_like(all[each].process, line) : NULL;
        if (made)
            asking[asked++] = made;
    }
    if (asked)
        WaitForMultipleObjects(asked, asking, TRUE, leaves ? PART_MS : QUIT_MS);
    for (DWORD waited = 0; (count = find(folder, all)) && waited < GONE_MS; waited += LOOK_MS) {
        for (int each = 0; each < count; each++) {
            HANDLE process = OpenProcess(PROCESS_TERMINATE, FALSE, all[each].process);
            if (process) {
                TerminateProcess(process, 1);
                CloseHandle(process);
            }
        }
        Sleep(LOOK_MS);
    }
    return count != 0;
}

static DWORD shell_of(DWORD session) {
    DWORD found = 0, of;
    PROCESSENTRY32W each = {.dwSize = sizeof each};
    HANDLE shot = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    for (BOOL more = Process32FirstW(shot, &each); more && !found; more = Process32NextW(shot, &each))
        if (!_wcsicmp(each.szExeFile, L"explorer.exe") &&
            ProcessIdToSessionId(each.th32ProcessID, &of) && of == session)
            found = each.th32ProcessID;
    CloseHandle(shot);
    return found;
}

static int start(const wchar_t *folder) {
    HKEY key;
    wchar_t name[16], line[LINE_MAX];
    DWORD length = 16, tray, size = sizeof tray;
    if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, KEPT, 0, KEY_READ | KEY_WOW64_64KEY, &key))
        return 0; /* nothing ran */
    for (DWORD each = 0;
         !RegEnumValueW(key, each, name, &length, NULL, NULL, (BYTE *)&tray, &size); each++) {
        BOOL service = !wcscmp(name, SERVICE);
        DWORD shell = service ? 0 : shell_of(wcstoul(name, NULL, 10));
        if (service)
            with_service(start_service, FALSE);
        const wchar_t *words = tray ? L"--background" : L"agent --background";
        _snwprintf(line, LINE_MAX, L"\"%ls\\%ls\" %ls", folder, tray ? TRAY : AGENT, words);
        HANDLE made = shell ? run_like(shell, line) : NULL;
        if (made)
            CloseHandle(made);
        length = 16, size = sizeof tray;
    }
    RegCloseKey(key);
    RegDeleteKeyExW(HKEY_LOCAL_MACHINE, KEPT, KEY_WOW64_64KEY, 0);
    return 0;
}

/* By its own uninstaller, in place, so that it is over when that process is; what it cannot delete then is
 * itself. */
static int unset(void) {
    wchar_t folder[MAX_PATH], line[LINE_MAX], own[LINE_MAX];
    DWORD size = sizeof folder, code = 1;
    STARTUPINFOW how = {.cb = sizeof how};
    PROCESS_INFORMATION made;
    if (RegGetValueW(HKEY_LOCAL_MACHINE, SETUP, L"InstallLocation", RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY,
                     NULL, folder, &size))
        return 0; /* there is none */
    _snwprintf(own, LINE_MAX, L"%ls\\uninstall.exe", folder);
    _snwprintf(line, LINE_MAX, L"\"%ls\" /S /REPLACED _?=%ls", own, folder);
    if (!CreateProcessW(own, line, NULL, NULL, FALSE, CREATE_NO_WINDOW, NULL, NULL, &how, &made))
        return 1;
    if (WaitForSingleObject(made.hProcess, UNSET_MS) == WAIT_OBJECT_0)
        GetExitCodeProcess(made.hProcess, &code);
    DeleteFileW(own);
    RemoveDirectoryW(folder);
    return code != 0;
}

static void may_look_at_all(void) {
    HANDLE token;
    TOKEN_PRIVILEGES wanted = {.PrivilegeCount = 1};
    wanted.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES, &token))
        return;
    if (LookupPrivilegeValueW(NULL, SE_DEBUG_NAME, &wanted.Privileges[0].Luid))
        AdjustTokenPrivileges(token, FALSE, &wanted, 0, NULL, NULL);
    CloseHandle(token);
}

int wmain(int count, wchar_t **words) {
    may_look_at_all();
    if (count == 2 && !wcscmp(words[1], L"unset"))
        return unset();
    if (count != 3)
        return 2;
    size_t length = wcslen(words[2]);
    while (length && (words[2][length - 1] == L'\\' || words[2][length - 1] == L'"'))
        words[2][--length] = 0; /* the folder of an MSI ends so */
    BOOL leaves = !wcscmp(words[1], L"leave");
    if (leaves || !wcscmp(words[1], L"end"))
        return end(words[2], leaves);
    return wcscmp(words[1], L"start") ? 2 : start(words[2]);
}

int WINAPI wWinMain(HINSTANCE own, HINSTANCE before, PWSTR line, int shown) {
    (void)own, (void)before, (void)line, (void)shown;
    return wmain(__argc, __wargv);
}
