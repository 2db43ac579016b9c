import type { NotificationService as NotificationServiceDesc } from '../../gen/proto/enforcement/v1/notification_service_pb.js';
import type { NotificationConfig } from '../config/notification-settings.js';
import { type HandlersOf, handler } from '../contract/call/handler.js';
import type { Database } from '../database/database.js';
import type { Mutator } from '../database/mutator.js';
import type { RepeatLog } from '../process/repeat-log.js';
import { createAddressPolicy } from './address-policy.js';
import { ATTEMPT_LIMIT_MS, createAttempt } from './attempt.js';
import { createDestinationService } from './destination-service.js';
import { createMailer } from './mailer.js';
import { createNotificationSchemas } from './notification-schemas.js';
import type { Sealer } from './sealer.js';
import { createSubscriptions } from './subscriptions.js';

export interface NotificationsOptions {
  readonly config: NotificationConfig;
  readonly database: Database;
  readonly mutate: Mutator;
  readonly sealer: Sealer;
  readonly failures: Pick<RepeatLog, 'failed' | 'told'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface Notifications {
  readonly handlers: HandlersOf<typeof NotificationServiceDesc>;
  start(): void;
  close(): Promise<void>;
}

/** The destinations, and what is sent to them. */
export function createNotifications(options: NotificationsOptions): Notifications {
  const { config, database, mutate, sealer, failures, now } = options;
  const policy = createAddressPolicy(config.allowed);
  const mailer = config.smtp === null ? null : createMailer(config.smtp, ATTEMPT_LIMIT_MS);
  const attempt = createAttempt({ policy, mailer, now });
  const subscriptions = createSubscriptions({ database, failures });
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
    start: subscriptions.start,
    close: subscriptions.close,
  };
}
