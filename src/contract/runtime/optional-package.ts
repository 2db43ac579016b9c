/** A package of the repository that the service can run without. */
export interface OptionalPackage<Module> {
  /** Its folder in `packages`. */
  readonly name: string;
  /** What the service refuses without it, for the log. */
  readonly without: string;
  /** `() => import('…/packages/NAME/src/index.js')`, or `import('@control-enforcement/NAME')` for one that is built by itself. */
  readonly load: () => Promise<Module>;
}

/** Where missing packages are told. */
export interface MissingPackageLog {
  warn(facts: { readonly package: string }, message: string): void;
}

/** The module of a package; null where it is not installed. Rejects when it is installed and does not load. */
export async function installedPackage<Module>({
  name,
  load,
}: Pick<OptionalPackage<Module>, 'name' | 'load'>): Promise<Module | null> {
  try {
    return await load();
  } catch (error) {
    if (isMissing(name, error)) return null;
    throw new Error(`the package ${name} is installed but cannot be loaded`, { cause: error });
  }
}

/** The same, with a warning where it is not installed. */
export async function loadOptionalPackage<Module>(
  { without, ...optional }: OptionalPackage<Module>,
  log: MissingPackageLog,
): Promise<Module | null> {
  const module = await installedPackage(optional);
  const { name } = optional;
  if (module === null) log.warn({ package: name }, `the package ${name} is not installed: ${without}`);
  return module;
}

/** Whether the package itself is absent, not a module that it imports. One that is built by itself is named by its scope. */
function isMissing(name: string, error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  const missing = /^Cannot find (?:module|package) '([^']+)'/.exec(message ?? '')?.[1]?.replaceAll('\\', '/');
  if (code !== 'ERR_MODULE_NOT_FOUND' || missing === undefined) return false;
  return missing.endsWith(`/packages/${name}/src/index.js`) || missing === `@control-enforcement/${name}`;
}
