import { ConfigError } from '../../contract/config/config.js';
import { loadOptionalPackage } from '../../contract/runtime/optional-package.js';

/** How the packages are loaded that the service can run without, each when something asks for it. */
export const PACKAGE_LOADERS = {
  adapters: () => import('../../../packages/adapters/src/index.js'),
  'events-clickhouse': () => import('../../../packages/events-clickhouse/src/index.js'),
  'memory-redis': () => import('../../../packages/memory-redis/src/index.js'),
};

export type PackageLoaders = typeof PACKAGE_LOADERS;

/** The module of a package that a setting asks for. Rejects with a ConfigError that names both where it is not installed. */
export async function demandPackage<Module>(
  setting: string,
  name: keyof PackageLoaders,
  load: () => Promise<Module>,
): Promise<Module> {
  const log = { warn() {} };
  const module = await loadOptionalPackage({ name, without: '', load }, log);
  if (module !== null) return module;
  throw new ConfigError([`${setting} needs the package ${name}, which is not installed.`]);
}
