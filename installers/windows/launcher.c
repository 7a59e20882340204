/* wingbeat.exe and wingbeat-tray.exe: Python under our own name, icon and version.
 *
 * Lists of processes, firewalls and the task bar call a program by the file that was started; a
 * python.exe that runs us would be called Python. So this loads the Python of its own folder into its
 * own process and has it run start.py of that folder, which tells by the name of this file which of
 * the two it is. Nothing is searched for elsewhere: no PATH, no registry, no current folder.
 */
#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

typedef int (*python_main)(int, wchar_t **);

static int stop(const wchar_t *what, const wchar_t *where) {
    wchar_t text[2 * MAX_PATH];
    _snwprintf(text, 2 * MAX_PATH - 1, L"Wingbeat cannot start: %ls (%ls). Install it again.", what,
               where);
    text[2 * MAX_PATH - 1] = 0;
#ifdef CONSOLE
    fwprintf(stderr, L"%ls\n", text);
#else
    MessageBoxW(NULL, text, L"Wingbeat", MB_ICONERROR);
#endif
    return 1;
}

int wmain(int count, wchar_t **words) {
    static wchar_t own[32768], library[32768], script[32768];
    DWORD length = GetModuleFileNameW(NULL, own, 32000);
    wchar_t *name = wcsrchr(own, L'\\');
    if (!length || !name)
        return stop(L"its own folder cannot be found", L"");
    size_t folder = name - own + 1;
    wcsncpy(library, own, folder);
    wcscpy(library + folder, PYTHON_DLL);
    wcsncpy(script, own, folder);
    wcscpy(script + folder, L"start.py");
    SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    HMODULE python = LoadLibraryExW(library, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (!python)
        return stop(L"its Python cannot be loaded", library);
    python_main run = (python_main)(void *)GetProcAddress(python, "Py_Main");
    wchar_t **told = calloc(count + 2, sizeof *told);
    if (!run || !told)
        return stop(L"its Python is another one", library);
    told[0] = own;
    told[1] = script;
    for (int each = 1; each < count; each++)
        told[each + 1] = words[each];
    return run(count + 1, told);
}

#ifndef CONSOLE
int WINAPI wWinMain(HINSTANCE own, HINSTANCE before, PWSTR line, int shown) {
    (void)own, (void)before, (void)line, (void)shown;
    return wmain(__argc, __wargv);
}
#endif
