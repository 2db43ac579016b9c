import { ConfigError, readConfig } from '../../../src/contract/config/config.js';

/** Settings that others need beside them. */
export const KEY = { SERVICE_API_KEYS: 'a-key' };
/** Keys without the switch are refused. */
export const SWITCH = { SERVICE_API_KEY_ENABLED: 'false' };

export const OIDC_ROLES = {
  SERVICE_API_KEY_ENABLED: 'true',
  SERVICE_OIDC_ISSUER: 'https://login.example',
  SERVICE_OIDC_AUDIENCE: 'controls',
};
export const OIDC = { ...OIDC_ROLES, SERVICE_OIDC_ADMIN_ROLES: 'chief' };
export const OIDC_LOGIN = { ...OIDC, SERVICE_OIDC_CLIENT_ID: 'dashboard' };

/** Of the least length. */
export const TOKEN_SECRET = 's'.repeat(32);
export const KEYS_ON = { ...KEY, SERVICE_AUTH_MODE: 'api_key' };
export const UPSTREAM = {
  SERVICE_AUTH_MODE: 'http_upstream',
  SERVICE_AUTH_UPSTREAM_URL: 'https://auth.example/authorize',
};

export const SMTP = { SERVICE_SMTP_HOST: 'mail.example', SERVICE_SMTP_FROM: 'controls@example.com' };

export const KAFKA = { SERVICE_EVENT_KAFKA_BROKERS: 'kafka:9092' };
export const HTTP = { SERVICE_EVENT_HTTP_URL: 'https://collector.example/logs' };
export const PARQUET = { SERVICE_EVENT_PARQUET: '/var/events' };
export const S3_KEY = { SERVICE_EVENT_S3_ACCESS_KEY_ID: 'id', SERVICE_EVENT_S3_SECRET_ACCESS_KEY: 'secret' };
export const S3 = { SERVICE_EVENT_PARQUET: 's3://audit-bucket', ...S3_KEY };

/** The lines about what is wrong with an environment; none if it can be used. */
export function problemsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n').slice(1);
    throw error;
  }
  return [];
}
