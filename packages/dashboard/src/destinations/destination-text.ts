import { DeliveryState, DestinationType } from '@gen/enforcement/v1/notification_service_pb.js';

/** Each type with its name. */
export const TYPES = [
  [DestinationType.WEBHOOK, 'webhook'],
  [DestinationType.SLACK, 'Slack'],
  [DestinationType.EMAIL, 'e-mail'],
] as const;

/** What can be told, in words. */
export const KINDS = [
  ['approval.asked', 'an approval is asked for'],
  ['approval.decided', 'an approval was decided, or has ended'],
  ['control.changed', 'a control was changed'],
  ['control.first_deny', 'a control denies for the first time after a quiet time'],
  ['control.error_rate', 'many checks of a control fail'],
  ['limit.reached', 'a limit is reached'],
  ['halt.set', 'steps are halted'],
  ['agent.overdue', 'an agent is not heard as expected'],
  ['agent.heard_again', 'an overdue agent is heard again'],
] as const;

/** Each state of a delivery as it is in addresses, with its name and the class of its badge. */
export const DELIVERY_STATES = [
  ['waiting', DeliveryState.WAITING, 'waits', 'steer'],
  ['delivered', DeliveryState.DELIVERED, 'delivered', 'safe'],
  ['dead', DeliveryState.DEAD, 'dead letter', 'deny'],
] as const;

export function typeText(type: DestinationType): string {
  return TYPES.find(([one]) => one === type)?.[1] ?? 'another type';
}

/** What is told, in words. Kinds of a later version stay as they are. */
export function kindText(kind: string): string {
  return KINDS.find(([one]) => one === kind)?.[1] ?? kind;
}
