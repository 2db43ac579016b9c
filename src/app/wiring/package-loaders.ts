/** How the packages are loaded that the service can run without, each when something asks for it. */
export const PACKAGE_LOADERS = {
  adapters: () => import('../../../packages/adapters/src/index.js'),
  'events-clickhouse': () => import('../../../packages/events-clickhouse/src/index.js'),
  'memory-redis': () => import('../../../packages/memory-redis/src/index.js'),
};

export type PackageLoaders = typeof PACKAGE_LOADERS;
