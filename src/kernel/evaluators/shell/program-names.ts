/** Systems whose names of programs are meant; `any` of them, where not knowing must not let something pass. */
export const PLATFORMS = ['posix', 'darwin', 'windows', 'any'] as const;
export type Platform = (typeof PLATFORMS)[number];

const SUFFIX = /\.(?:exe|com|cmd|bat)$/i;
/** A path of Windows as it is written: with a drive, a variable or a folder, and backslashes. */
const WINDOWS_PATH = /^(?:[A-Za-z]:|%\w+%|\.{1,2}|[\w.-]+)?(?:\\[\w.~ ()-]+)+$/;
const EXECUTABLE_PATH = /\\[\w.-]+\.(?:exe|com|cmd|bat)$/i;
const ROOTED = /^(?:[A-Za-z]:|%\w+%|\.{1,2})\\/;

/** How names of programs are compared on a system. */
export interface ProgramNames {
  /** The name by which a program is compared. */
  readonly normal: (name: string) => string;
  /** The value of a word that names a program, or the path of Windows that its text is before a shell removes backslashes. */
  readonly path: (value: string, written: string) => string;
}

export function programNames(platform: Platform): ProgramNames {
  const isWindows = platform === 'windows' || platform === 'any';
  if (platform === 'posix') return { normal: (name) => name, path: (value) => value };
  if (!isWindows) return { normal: (name) => name.toLowerCase(), path: (value) => value };
  return {
    normal: (name) => name.replace(SUFFIX, '').toLowerCase(),
    path(value, written) {
      if (!value.includes('\\') && !written.includes('\\')) return value;
      const path = WINDOWS_PATH.test(value) ? value : written;
      const isPath = WINDOWS_PATH.test(path) && (ROOTED.test(path) || EXECUTABLE_PATH.test(path));
      return isPath ? path.replaceAll('\\', '/') : value;
    },
  };
}
