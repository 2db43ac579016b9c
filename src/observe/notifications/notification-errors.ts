import { ServiceError } from '../../contract/errors/service-error.js';

export function destinationNotFound(id: number): ServiceError {
  return new ServiceError('DESTINATION_NOT_FOUND', {
    detail: `Destination ${id} was not found.`,
    hint: 'List the destinations with GET /notification-destinations.',
    name: String(id),
    kind: 'Destination',
  });
}

export function deliveryNotFound(id: number): ServiceError {
  return new ServiceError('DELIVERY_NOT_FOUND', {
    detail: `Delivery ${id} was not found.`,
    hint: 'List the deliveries with GET /notification-deliveries. They are removed after a time.',
    name: String(id),
    kind: 'Delivery',
  });
}

/** A member of a request that the destination, or the settings, do not allow. */
export function unusableDestination(field: string, code: string, message: string): ServiceError {
  return new ServiceError('VALIDATION_ERROR', {
    detail: `The destination cannot be used: ${field} ${message}.`,
    hint: 'See docs/notifications.md for destinations and their settings.',
    kind: 'Destination',
    items: [{ resource: 'Destination', field, code, message }],
  });
}
