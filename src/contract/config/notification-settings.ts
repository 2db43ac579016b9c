import {
  BOOLEAN,
  inMs,
  integerIn,
  listWhere,
  numberIn,
  secret,
  TEXT,
  textLike,
  textWhere,
  wordOf,
} from './config-readers.js';
import { setting, type ValuesOf } from './setting.js';
import { isTrustableNetwork } from './trusted-proxies.js';

const SMTP = {
  host: setting('SERVICE_SMTP_HOST', null, textLike(/^[A-Za-z0-9.:-]+$/, 'a host', 'mail.example')).help(
    'SMTP server for notifications by e-mail.',
    'none',
  ),
  port: setting('SERVICE_SMTP_PORT', 587, integerIn(1, 65_535)).help('Its port.'),
  tls: setting('SERVICE_SMTP_TLS', 'starttls', wordOf('starttls', 'tls', 'none')).help(
    'How the connection to it is encrypted: starttls demands it after the greeting, tls from the beginning; none leaves it in plain text.',
  ),
  username: setting('SERVICE_SMTP_USERNAME', null, TEXT).help(
    'Name to authenticate with.',
    'no authentication',
  ),
  password: setting('SERVICE_SMTP_PASSWORD', null, secret(TEXT)).help('Password to authenticate with.'),
  from: setting(
    'SERVICE_SMTP_FROM',
    null,
    textLike(/^[^\s@<>",;]+@[^\s@<>",;]+$/, 'an address of e-mail', 'controls@example.com'),
  ).help('Address that notifications by e-mail come from.'),
};

function isBase(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, search, hash, username } = new URL(text);
  return /^https?:$/.test(protocol) && search === '' && hash === '' && username === '';
}

/** What is sent to people and other services, and where it may be sent to. */
export const NOTIFICATIONS = {
  publicUrl: setting(
    'SERVICE_PUBLIC_URL',
    null,
    textWhere(isBase, 'an http or https URL', 'https://controls.example'),
  ).help('Address at which people reach the service, for links in notifications.', 'no links'),
  notifications: {
    allowed: setting(
      'SERVICE_NOTIFICATIONS_ALLOW',
      '',
      listWhere(
        isTrustableNetwork,
        'addresses, networks, loopback or private, separated by commas',
        '10.1.0.0/16',
      ),
    ).help(
      'Addresses outside of the public internet that notifications may be sent to: addresses, networks such as 10.1.0.0/16, loopback or private, separated by commas.',
      'none',
    ),
    http: setting('SERVICE_NOTIFICATIONS_HTTP', false, BOOLEAN).help(
      'Whether URLs of destinations may begin with http://, without TLS.',
    ),
    maxDestinations: setting('SERVICE_NOTIFICATIONS_DESTINATIONS', 100, integerIn(1, 1_000)).help(
      'Most destinations of a namespace.',
    ),
    maxWaiting: setting('SERVICE_NOTIFICATIONS_QUEUE', 10_000, integerIn(1, 1_000_000)).help(
      'Most notifications that wait for a destination. Beyond it new ones are dropped, and counted.',
    ),
    retentionMs: setting(
      'SERVICE_NOTIFICATIONS_RETENTION_SECONDS',
      604_800,
      inMs(integerIn(60, 31_536_000)),
    ).help('How long deliveries and dead letters are listed.'),
    quietMs: setting('SERVICE_NOTIFICATIONS_QUIET_SECONDS', 3_600, inMs(integerIn(1, 2_592_000))).help(
      'Time without one after which the next deny, reached limit or error rate of a control is told of.',
    ),
    errorShare: setting('SERVICE_NOTIFICATIONS_ERROR_SHARE', 0.5, numberIn(0.001, 1)).help(
      'Share of failed checks of a control from which on its error rate is told of.',
    ),
    errorWindowMs: setting('SERVICE_NOTIFICATIONS_ERROR_SECONDS', 300, inMs(integerIn(1, 86_400))).help(
      'Longest time over which that share is measured.',
    ),
    smtp: SMTP,
  },
};

export type NotificationConfig = ReturnType<typeof notificationConfig>;

/** Adds to `problems` what makes the settings unusable. Without an SMTP server `smtp` is null. */
export function notificationConfig({ notifications }: ValuesOf<typeof NOTIFICATIONS>, problems: string[]) {
  return { ...notifications, smtp: smtpConfig(notifications.smtp, problems) };
}

function smtpConfig({ host, username, password, from, ...smtp }: ValuesOf<typeof SMTP>, problems: string[]) {
  if (host === null) return null;
  if (from === null && !problems.some((problem) => problem.startsWith('SERVICE_SMTP_FROM'))) {
    problems.push(
      'SERVICE_SMTP_FROM: SERVICE_SMTP_HOST needs it; for example SERVICE_SMTP_FROM=controls@example.com',
    );
  }
  if ((username === null) !== (password === null)) {
    const missing = username === null ? 'SERVICE_SMTP_USERNAME' : 'SERVICE_SMTP_PASSWORD';
    problems.push(`${missing}: authentication needs a name and a password; for example ${missing}=text`);
  }
  return {
    ...smtp,
    host,
    from: from ?? '',
    login: username === null || password === null ? null : { user: username, pass: password },
  };
}
