import type { Config } from '../../contract/config/config.js';

/** The address of the service in readable form, for example `http://127.0.0.1:8000`. */
export function addressText({ host, tls }: Pick<Config, 'host' | 'tls'>, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `${tls === null ? 'http' : 'https'}://${name}:${port}`;
}
