import type { NotificationService as NotificationServiceDesc } from '../../../gen/proto/enforcement/v1/notification_service_pb.js';
import { type HandlersOf, handler } from '../../contract/call/handler.js';
import type { NotificationConfig } from '../../contract/config/notification-settings.js';
import { createRegularLook } from '../../contract/runtime/regular-look.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { VerdictObserver } from '../../decide/decisions/verdict-observer.js';
import type { Database } from '../../storage/database/database.js';
import { createLease } from '../../storage/database/lease.js';
import type { Mutator } from '../../storage/database/mutator.js';
import type { NotifyOptions } from '../../storage/database/notifications.js';
import { createAddressPolicy } from './address-policy.js';
import { ATTEMPT_LIMIT_MS, createAttempt } from './attempt.js';
import { createDestinationService } from './destination-service.js';
import { createEvaluationWatch } from './evaluation-watch.js';
import { createMailer } from './mailer.js';
import { createNotificationSchemas } from './notification-schemas.js';
import { createOutbox } from './outbox.js';
import type { Sealer } from './sealer.js';
import { createSender, SENDER_LEASE_MS } from './sender.js';
import { createSightingWriter, pruneMarks } from './sighting-writer.js';
import { createSubscriptions } from './subscriptions.js';

export interface NotificationsOptions {
  readonly config: NotificationConfig;
  readonly database: Database;
  readonly mutate: Mutator;
  readonly sealer: Sealer;
  /** What verdicts are passed on to; undefined for nothing. */
  readonly publicUrl: NotifyOptions['publicUrl'];
  readonly failures: Pick<RepeatLog, 'failed' | 'told'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
}

/** How often what evaluations have to tell is written, in milliseconds. */
const WRITE_MS = 1_000;
/** How often what is too old is removed, in milliseconds. */
const PRUNE_MS = 600_000;

export interface Notifications {
  readonly observer: VerdictObserver;
  readonly handlers: HandlersOf<typeof NotificationServiceDesc>;
  start(): void;
  close(): Promise<void>;
}

/** The destinations, and what is sent to them. */
export function createNotifications(options: NotificationsOptions): Notifications {
  const { config, database, mutate, sealer, publicUrl, failures, now, monotonic } = options;
  const policy = createAddressPolicy(config.allowed);
  const mailer = config.smtp === null ? null : createMailer(config.smtp, ATTEMPT_LIMIT_MS);
  const attempt = createAttempt({ policy, mailer, now });
  const subscriptions = createSubscriptions({ database, failures });
  const outbox = createOutbox(database, sealer);
  const lease = createLease({ bulk: database.bulk, name: 'notifications', now, leaseMs: SENDER_LEASE_MS });
  const sender = createSender({ outbox, lease, attempt, subscriptions, failures, now, monotonic });
  const watch = createEvaluationWatch({ ...config, subscriptions, monotonic });
  const writing = { maxWaiting: config.maxWaiting, publicUrl };
  const write = createSightingWriter({ ...config, database, watch, outbox: writing, failures, now });
  const writer = createRegularLook({ firstMs: WRITE_MS, intervalMs: WRITE_MS, look: write });
  const pruner = createRegularLook({
    firstMs: PRUNE_MS / 10,
    intervalMs: PRUNE_MS,
    async look() {
      if (!subscriptions.any) return;
      try {
        await outbox.prune(now() - config.retentionMs);
        await pruneMarks(database, now(), config.quietMs);
      } catch (error) {
        failures.failed('notification upkeep', 'old deliveries cannot be removed now', error);
      }
    },
  });
  const service = createDestinationService({
    database,
    mutate,
    sealer,
    attempt,
    maxDestinations: config.maxDestinations,
    hasMail: mailer !== null,
    changed: () => void subscriptions.refresh(),
    now,
  });
  const schemas = createNotificationSchemas({ policy, http: config.http });
  return {
    handlers: {
      createDestination: handler(schemas.createDestination, (input, context) =>
        service.create(context, input),
      ),
      listDestinations: handler(schemas.listDestinations, (input, context) => service.list(context, input)),
      getDestination: handler(schemas.getDestination, (input, context) =>
        service.get(context, input.destination_id),
      ),
      updateDestination: handler(schemas.updateDestination, (input, context) =>
        service.update(context, input),
      ),
      deleteDestination: handler(schemas.deleteDestination, (input, context) =>
        service.remove(context, input.destination_id),
      ),
      rotateDestinationSecret: handler(schemas.rotateDestinationSecret, (input, context) =>
        service.rotate(context, input),
      ),
      testDestination: handler(schemas.testDestination, (input, context) =>
        service.test(context, input.destination_id),
      ),
      listDeliveries: handler(schemas.listDeliveries, (input, context) => service.deliveries(context, input)),
      resendDelivery: handler(schemas.resendDelivery, (input, context) =>
        service.resend(context, input.delivery_id),
      ),
    },
    observer: watch.observer,
    start() {
      for (const part of [subscriptions, writer, sender, pruner]) part.start();
    },
    async close() {
      await Promise.all([subscriptions.close(), writer.close(), sender.close(), pruner.close()]);
      await write();
    },
  };
}
