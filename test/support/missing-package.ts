/** A loader of a package that is not there: it rejects as Node.js does. */
export function missingPackage(name: string): () => Promise<never> {
  const message = `Cannot find module '/service/dist/packages/${name}/src/index.js' imported from /service/dist/src/main.js`;
  return () => Promise.reject(Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' }));
}
