import { loadOptionalPackage, type OptionalPackage } from '../runtime/optional-package.js';
import { ConfigError } from './config.js';

/** The module of a package that a setting asks for. Rejects with a ConfigError that names both where it is not installed. */
export async function demandPackage<Module>(
  setting: string,
  { name, load }: Omit<OptionalPackage<Module>, 'without'>,
): Promise<Module> {
  const module = await loadOptionalPackage({ name, without: '', load }, { warn() {} });
  if (module !== null) return module;
  throw new ConfigError([`${setting} needs the package ${name}, which is not installed.`]);
}
