import { expect } from 'vitest';
import { NO_KEY, NOT_ADMIN, refusal } from '../support/refusals.js';
import { READER_KEY, type Step, steps } from './every-rpc.support.js';

const NO_DESTINATION = refusal('DESTINATION_NOT_FOUND', 404, 'NotFound', []);
const NO_DELIVERY = refusal('DELIVERY_NOT_FOUND', 404, 'NotFound', []);
const SECRET = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/);
// Names of this domain are never resolved.
const WEBHOOK = {
  name: ' on-call ',
  type: 'webhook',
  url: 'https://hooks.invalid/a?token=x',
  kinds: ['halt.set'],
};
const ONCE = {
  name: 'channel',
  type: 'slack',
  url: 'https://slack.invalid/services/T0/B0/secret',
  kinds: ['halt.set', 'control.changed'],
  enabled: false,
  idempotency_key: 'destination-one',
};
const MADE = { created_at: expect.any(String), created_by: expect.any(String) };
const ON_CALL = {
  id: 1,
  name: 'on-call',
  type: 'webhook',
  url: 'https://hooks.invalid/a?…',
  kinds: ['halt.set'],
  enabled: true,
  waiting_deliveries: 0,
  dead_deliveries: 0,
  dropped_notifications: 0,
  ...MADE,
};
const CHANNEL = {
  id: 2,
  name: 'channel',
  type: 'slack',
  url: 'https://slack.invalid/…',
  kinds: ['control.changed', 'halt.set'],
  enabled: false,
  ...MADE,
};

/** The part of the script that is about notifications. */
export const NOTIFICATION_STEPS: readonly Step[] = [
  ...steps('NotificationService.CreateDestination', [
    ['creates a webhook', WEBHOOK, { reply: { destination: ON_CALL, secret: SECRET } }],
    ['creates a destination of Slack', ONCE, { reply: { destination: CHANNEL } }],
    ['creates it once', ONCE, { reply: { destination: CHANNEL } }],
    [
      'refuses the idempotency key of another request',
      { ...ONCE, name: 'other' },
      refusal('IDEMPOTENCY_CONFLICT', 409, 'FailedPrecondition', ['idempotency_key idempotency_conflict']),
    ],
    ['demands a name', { ...WEBHOOK, name: ' ' }, 'name string_too_short'],
    ['demands a URL', { name: 'x', type: 'webhook', kinds: ['halt.set'] }, 'url missing'],
    ['demands addresses', { name: 'x', type: 'email', kinds: ['halt.set'] }, 'recipients missing'],
    ['demands a kind', { name: 'x', type: 'webhook', url: 'https://hooks.invalid/' }, 'kinds missing'],
    ['refuses an unknown kind', { ...WEBHOOK, kinds: ['halt.seen'] }, 'kinds[0] literal_error'],
    ['refuses plain text', { ...WEBHOOK, url: 'http://hooks.invalid/' }, 'url value_error'],
    ['refuses a user in the URL', { ...WEBHOOK, url: 'https://a:b@hooks.invalid/' }, 'url value_error'],
    ['refuses the loopback', { ...WEBHOOK, url: 'https://127.1/' }, 'url forbidden_address'],
    ['refuses it in IPv6', { ...WEBHOOK, url: 'https://[::ffff:7f00:1]/' }, 'url forbidden_address'],
    [
      'refuses what is no address',
      { name: 'x', type: 'email', recipients: ['a@b.example', 'c\r\nBcc: d'], kinds: ['halt.set'] },
      'recipients[1] string_pattern_mismatch',
    ],
    [
      'needs a server for e-mail',
      { name: 'x', type: 'email', recipients: ['a@b.example'], kinds: ['halt.set'] },
      'type no_smtp_server',
    ],
    ['is for administrators', WEBHOOK, NOT_ADMIN, READER_KEY],
    ['requires a key', WEBHOOK, NO_KEY, null],
  ]),
  ...steps('NotificationService.GetDestination', [
    ['returns a destination', { destination_id: 1 }, { reply: { destination: ON_CALL } }],
    ['does not find an unknown one', { destination_id: 99 }, NO_DESTINATION],
    ['is for administrators', { destination_id: 1 }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('NotificationService.ListDestinations', [
    [
      'lists destinations, newest first',
      {},
      { reply: { destinations: [CHANNEL, ON_CALL], pagination: { total: 2 } } },
    ],
    [
      'lists them page by page',
      { limit: 1, cursor: '2' },
      { reply: { destinations: [ON_CALL], pagination: { total: 2, has_more: false } } },
    ],
    ['refuses a page without rows', { limit: 0 }, 'limit greater_than_equal'],
  ]),
  ...steps('NotificationService.UpdateDestination', [
    [
      'changes a destination',
      { destination_id: 2, name: 'team', kinds: ['halt.set'] },
      { reply: { destination: { ...CHANNEL, name: 'team', kinds: ['halt.set'] } } },
    ],
    [
      'changes nothing that is as it was',
      { destination_id: 2, name: 'team', enabled: false },
      { reply: { destination: { id: 2, name: 'team' } } },
    ],
    [
      'takes no members of another type',
      { destination_id: 2, recipients: ['a@b.example'] },
      'recipients value_error',
    ],
    ['does not find an unknown one', { destination_id: 99, name: 'x' }, NO_DESTINATION],
    ['is for administrators', { destination_id: 1, name: 'x' }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('NotificationService.RotateDestinationSecret', [
    [
      'gives a webhook a new secret',
      { destination_id: 1, overlap_seconds: 60 },
      { reply: { destination: { id: 1, previous_secret_until: expect.any(String) }, secret: SECRET } },
    ],
    [
      'refuses a long overlap',
      { destination_id: 1, overlap_seconds: 2_592_001 },
      'overlap_seconds less_than_equal',
    ],
    ['has none for Slack', { destination_id: 2 }, 'destination_id no_secret'],
    ['does not find an unknown one', { destination_id: 99 }, NO_DESTINATION],
    ['is for administrators', { destination_id: 1 }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('NotificationService.TestDestination', [
    [
      'tells what came of a test',
      { destination_id: 1 },
      { reply: { delivered: false, error: expect.stringContaining('no address of the public internet') } },
    ],
    ['does not find an unknown one', { destination_id: 99 }, NO_DESTINATION],
    ['is for administrators', { destination_id: 1 }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('HaltService.CreateHalt', [
    [
      'tells the destinations',
      { scope: 'agent', agent_name: 'told-bot-0001', reason: 'to be told' },
      { reply: { halt: { agent_name: 'told-bot-0001' } } },
    ],
  ]),
  ...steps('NotificationService.ListDeliveries', [
    [
      'lists deliveries, newest first',
      { destination_id: 1, state: 'waiting' },
      {
        reply: {
          deliveries: [
            {
              id: 1,
              destination_id: 1,
              kind: 'halt.set',
              object: expect.stringMatching(/^halt:\d+$/),
              summary: expect.stringContaining('told-bot-0001'),
              state: 'waiting',
            },
          ],
          pagination: { total: 1 },
        },
      },
    ],
    ['lists dead letters', { state: 'dead' }, { reply: { deliveries: [], pagination: { total: 0 } } }],
    ['does not find an unknown destination', { destination_id: 99 }, NO_DESTINATION],
    ['is for administrators', {}, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('NotificationService.ResendDelivery', [
    ['sends one again', { delivery_id: 1 }, { reply: { delivery: { id: 1, state: 'waiting' } } }],
    ['does not find an unknown one', { delivery_id: 99 }, NO_DELIVERY],
    ['is for administrators', { delivery_id: 1 }, NOT_ADMIN, READER_KEY],
  ]),
  ...steps('NotificationService.DeleteDestination', [
    ['deletes a destination', { destination_id: 1 }, { reply: {} }],
    ['does not find it then', { destination_id: 1 }, NO_DESTINATION],
    ['deletes another one', { destination_id: 2 }, { reply: {} }],
    ['is for administrators', { destination_id: 1 }, NOT_ADMIN, READER_KEY],
  ]),
];
