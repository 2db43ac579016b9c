import { describe, expect, it } from 'vitest';
import type { PackageLoaders } from '../../../src/app/wiring/package-loaders.js';
import { startService } from '../../support/service.js';

/** A loader of a package that is not there: it rejects as Node.js does. */
function missing(name: keyof PackageLoaders): () => Promise<never> {
  const message = `Cannot find module '/service/dist/packages/${name}/src/index.js' imported from /service/dist/src/main.js`;
  return () => Promise.reject(Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' }));
}

describe('a setting that needs a package that is not installed', () => {
  it.each([
    ['events-clickhouse', 'SERVICE_EVENT_STORE', 'clickhouse://127.0.0.1:9/events'],
    ['memory-redis', 'SERVICE_MEMORY_STORE', 'redis://127.0.0.1:9'],
  ] as const)('%s: the service does not start with %s', async (name, setting, value) => {
    const started = startService({ [setting]: value }, { packages: { [name]: missing(name) } });
    await expect(started).rejects.toThrow(`${setting} needs the package ${name}, which is not installed.`);
  });
});
