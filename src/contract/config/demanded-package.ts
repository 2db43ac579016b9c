import { installedPackage, type OptionalPackage } from '../runtime/optional-package.js';
import { ConfigError } from './config.js';

/** The module of a package that a setting asks for. Rejects with a ConfigError that names both where it is not installed. */
export async function demandPackage<Module>(
  setting: string,
  demanded: Pick<OptionalPackage<Module>, 'name' | 'load'>,
): Promise<Module> {
  const module = await installedPackage(demanded);
  if (module !== null) return module;
  throw new ConfigError([`${setting} needs the package ${demanded.name}, which is not installed.`]);
}
