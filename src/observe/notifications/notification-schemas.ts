import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import {
  boolean,
  field,
  list,
  nullable,
  oneOf,
  refuse,
  report,
  text,
  withDefault,
  withExample,
} from '../../contract/input/fields.js';
import { line } from '../../contract/input/names.js';
import { rowId } from '../../contract/input/numbers.js';
import { idPage } from '../../contract/input/paging.js';
import type { InputsOf } from '../../contract/input/parse-input.js';
import { overlapSeconds } from '../../contract/input/times.js';
import { idempotencyKey } from '../../storage/database/idempotency.js';
import { NOTIFICATION_KINDS } from '../../storage/database/notifications.js';
import { isStorable } from '../../storage/database/text.js';
import { type AddressPolicy, refusalOf } from './address-policy.js';
import { DELIVERY_STATES, DESTINATION_TYPES } from './destination.js';

const limits = LIMITS.CreateDestinationRequest;
const MAX_URL_LENGTH = limits.url.max;

/** What the settings allow. */
export interface DestinationRules {
  readonly policy: Pick<AddressPolicy, 'allows'>;
  /** Whether URLs may begin with http://. */
  readonly http: boolean;
}

const name = line(limits.name);

/** A URL that notifications may be sent to, as far as its text tells. Errors do not repeat it: it may have a secret. */
const url = ({ policy, http }: DestinationRules) =>
  field<string>(
    (value, sink) => {
      if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', null);
      const read = value.trim();
      const wanted = http ? 'an http or https URL' : 'an https URL';
      const rule = `must be ${wanted} of at most ${MAX_URL_LENGTH} characters, without a user and a fragment`;
      if (read.length > MAX_URL_LENGTH || !isStorable(read) || !URL.canParse(read)) {
        return refuse(sink, 'value_error', rule, null);
      }
      const { protocol, username, password, hash, hostname, href } = new URL(read);
      const isAllowed = protocol === 'https:' || (http && protocol === 'http:');
      if (!isAllowed || username !== '' || password !== '' || hash !== '' || href.length > MAX_URL_LENGTH) {
        return refuse(sink, 'value_error', rule, null);
      }
      return policy.allows(hostname) ? href : refuse(sink, 'forbidden_address', refusalOf(hostname), null);
    },
    { type: 'string', format: 'uri', maxLength: MAX_URL_LENGTH },
  );

/** Addresses with quotes are not taken: what looks like several addresses is none. */
const address = text({ ...limits.recipients.items, trim: true });
const recipients = list(address, limits.recipients).transform((given) => [...new Set(given)]);
const kinds = (min = 0) =>
  list(oneOf(NOTIFICATION_KINDS), { min, max: NOTIFICATION_KINDS.length }).transform((given) =>
    NOTIFICATION_KINDS.filter((kind) => given.includes(kind)),
  );

/** Input schemas of NotificationService, by RPC. Members are in the order of the messages. */
export function createNotificationSchemas(rules: DestinationRules) {
  const created = z
    .object({
      name,
      type: oneOf(DESTINATION_TYPES),
      url: nullable(url(rules)),
      recipients: nullable(recipients),
      kinds: kinds(limits.kinds.min),
      enabled: withDefault(boolean(), true),
      idempotency_key: nullable(idempotencyKey()),
    })
    .superRefine(({ type, url: given, recipients: to = [] }, sink) => {
      const isEmail = type === 'email';
      const refusal = `must not be sent with the type ${type}`;
      const missing = `Field required with the type ${type}`;
      if (isEmail && given !== undefined) report(sink, 'value_error', refusal, undefined, ['url']);
      if (!isEmail && given === undefined) report(sink, 'missing', missing, undefined, ['url']);
      if (!isEmail && to.length > 0) report(sink, 'value_error', refusal, undefined, ['recipients']);
      if (isEmail && to.length === 0) report(sink, 'missing', missing, undefined, ['recipients']);
    });
  const ofDestination = z.object({ destination_id: rowId });
  return {
    createDestination: withExample(created, {
      name: 'on-call',
      type: 'webhook',
      url: 'https://hooks.example.com/controls',
      kinds: ['halt.set', 'approval.asked'],
    }),
    listDestinations: z.object(idPage),
    getDestination: ofDestination,
    updateDestination: withExample(
      z.object({
        destination_id: rowId,
        name: nullable(name),
        url: nullable(url(rules)),
        recipients: nullable(recipients),
        kinds: nullable(kinds()),
        enabled: nullable(boolean()),
      }),
      { kinds: ['halt.set'] },
    ),
    deleteDestination: ofDestination,
    rotateDestinationSecret: withExample(
      z.object({ destination_id: rowId, overlap_seconds: overlapSeconds() }),
      { overlap_seconds: 3_600 },
    ),
    testDestination: withExample(z.object({ destination_id: rowId }), {}),
    listDeliveries: z.object({
      ...idPage,
      destination_id: nullable(rowId),
      state: nullable(oneOf(DELIVERY_STATES)),
    }),
    resendDelivery: withExample(z.object({ delivery_id: rowId }), {}),
  };
}

/** Outputs of these schemas, by RPC. */
export type NotificationInputs = InputsOf<ReturnType<typeof createNotificationSchemas>>;
