import { type AUTH_MODES, authMode, runtimeSettings, upstreamSettings } from './auth-modes.js';
import { BOOLEAN, converted, integerIn, LIST, LIST_OR_ALL, secret, TEXT, wordOf } from './config-readers.js';
import { OIDC_ISSUERS, oidcIssuers } from './oidc-issuers.js';
import { OIDC, oidcSettings } from './oidc-settings.js';
import { setting, type ValuesOf } from './setting.js';

/** Who may call the service. */
export const ACCESS = {
  auth: {
    enabled: setting('SERVICE_API_KEY_ENABLED', false, BOOLEAN).help(
      'Demand API keys. Off by default, for local development only.',
    ),
    keys: setting('SERVICE_API_KEYS', '', secret(LIST)).help('Regular keys, separated by commas.'),
    adminKeys: setting('SERVICE_ADMIN_API_KEYS', '', secret(LIST)).help('Admin keys, separated by commas.'),
    operatorKeys: setting('SERVICE_OPERATOR_API_KEYS', '', secret(LIST)).help(
      'Keys that manage namespaces as well, separated by commas.',
    ),
    validationAccess: setting('SERVICE_VALIDATION_ACCESS', 'key', wordOf('key', 'admin')).help(
      'Who may validate controls and render templates: key (also the role regular) or admin (the role regular may not, as in 8.x).',
    ),
    keysFile: setting('SERVICE_KEYS_FILE', null, TEXT).help(
      'JSON file with keys that have names, roles, agents and times of expiry. Read again whenever it changes.',
    ),
    sessionSecret: setting('SERVICE_SESSION_SECRET', null, secret(TEXT)).help(
      'Signs browser sessions: a long random text, the same for every instance. A random one ends them at a restart.',
      'random',
    ),
    sessionSeconds: setting(
      'SERVICE_SESSION_HOURS',
      720,
      converted(integerIn(1, 720, '12'), (hours) => hours * 60 * 60),
    ).help('How long a browser session lasts, in hours. A logout ends it earlier, in every instance.'),
    oidc: OIDC,
    oidcIssuers: OIDC_ISSUERS,
  },
  cors: {
    origins: setting(['SERVICE_CORS_ORIGINS', 'CORS_ORIGINS'], '*', LIST_OR_ALL).help(
      'Origins that browsers may call from, separated by commas, or *. Credentials only for listed origins; without API keys, changes too, but for pages on localhost.',
    ),
    methods: setting(['SERVICE_ALLOW_METHODS', 'ALLOW_METHODS'], '*', LIST_OR_ALL).help(
      'Methods that browsers may use from other origins.',
    ),
    headers: setting(['SERVICE_ALLOW_HEADERS', 'ALLOW_HEADERS'], '*', LIST_OR_ALL).help(
      'Headers that browsers may send from other origins.',
    ),
  },
};

/** Who may call, with a problem for each contradiction. `isSwitchSet`: whether keys are switched on or off. */
export function authSettings(
  { auth }: ValuesOf<typeof ACCESS> & ValuesOf<typeof AUTH_MODES>,
  isSwitchSet: boolean,
  problems: string[],
) {
  const { enabled, mode } = authMode(auth.mode, isSwitchSet ? auth.enabled : undefined, problems);
  const runtime = runtimeSettings(auth.runtime, mode, problems);
  const upstream = upstreamSettings(auth.upstream, mode, problems);
  const oidc = oidcSettings(auth.oidc, enabled, problems);
  const further = oidcIssuers(auth.oidcIssuers, oidc?.issuer ?? null, enabled, problems);
  for (const [variable, isSet] of [
    ['SERVICE_OIDC_ISSUER', oidc !== null],
    ['SERVICE_OIDC_ISSUERS', further.length > 0],
  ] as const) {
    if (mode === 'http_upstream' && isSet)
      problems.push(`${variable}: it has no effect with SERVICE_AUTH_MODE=http_upstream; remove one of them`);
  }
  const hasKeys =
    auth.keysFile !== null || auth.keys.length + auth.adminKeys.length + auth.operatorKeys.length > 0;
  // Problems of an issuer are told by themselves.
  const hasIssuer =
    oidc !== null || further.length > 0 || problems.some((problem) => problem.startsWith('SERVICE_OIDC_'));
  if (mode === 'api_key' && !hasKeys && !hasIssuer) {
    problems.push(
      'SERVICE_API_KEY_ENABLED: it is on but no key is configured; for example SERVICE_ADMIN_API_KEYS=a-long-random-text',
    );
  }
  if (hasKeys && !isSwitchSet && auth.mode === null) {
    problems.push(
      'SERVICE_API_KEY_ENABLED: keys are configured but not required, so that anyone may call the service; SERVICE_API_KEY_ENABLED=true requires them, SERVICE_API_KEY_ENABLED=false ignores them',
    );
  }
  return { ...auth, enabled, mode, runtime, upstream, oidc, oidcIssuers: further };
}
