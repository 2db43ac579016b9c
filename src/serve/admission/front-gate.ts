import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Admission } from './admission.js';
import type { CallClass } from './call-class.js';
import type { CallTicket } from './call-ticket.js';

/** Class and cost of a call, as far as they follow from its path. */
export interface PathClass {
  readonly callClass: CallClass;
  /** Cost without a key, in units of a simple request. */
  readonly publicUnits: number;
  /** Whether it is also answered under overload: reporting the state of the service costs little. */
  readonly isOperational: boolean;
}

/** A refused call, as received. */
export interface RefusedCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface FrontGateOptions {
  readonly admission: Admission;
  readonly classOf: (path: string) => PathClass;
  /** Refuses a call in the format of its protocol, at the lowest possible cost. */
  readonly refuse: {
    stream(error: unknown, call: RefusedCall, stream: ServerHttp2Stream): void;
    request(error: unknown, call: RefusedCall, response: ServerResponse): void;
  };
}

/**
 * Runs before Fastify. Calls that need no key are limited here, before anything is done for them, and wait
 * for their turn; they are dropped if the caller disconnects meanwhile. Calls that need a key are passed on
 * to the entrance, which checks the key: evaluations at once, others a few per turn, because Fastify and Connect take
 * several times as long for them as an evaluation takes.
 */
export interface FrontGate {
  /** Passes a stream on, now or later, or refuses it. */
  stream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, handOn: () => void): void;
  /** The same for an HTTP/1 request. */
  request(request: IncomingMessage, response: ServerResponse, handOn: () => void): void;
  /** The ticket of a call, by its stream or HTTP/1 request; a new one if the call did not pass the gate. */
  ticketOf(raw: object, connection: object | undefined, headers: IncomingHttpHeaders): CallTicket;
}

/** A call, independent of the HTTP version. */
interface RawCall {
  readonly key: object;
  readonly connection: object | undefined;
  readonly call: RefusedCall;
  onClose(listener: () => void): void;
  isGone(): boolean;
  refuse(error: unknown): void;
}

export function createFrontGate({ admission, classOf, refuse }: FrontGateOptions): FrontGate {
  const tickets = new WeakMap<object, CallTicket>();

  function pass(raw: RawCall, handOn: () => void): void {
    const { callClass, publicUnits, isOperational } = classOf(raw.call.path);
    if (callClass === 'evaluation') {
      handOn();
      return;
    }
    if (callClass === 'keyed') {
      try {
        admission.takeFrontTurn(raw.connection, handOn, () => raw.isGone());
      } catch (error) {
        raw.refuse(error);
      }
      return;
    }
    const ticket = admission.ticket(raw.connection, raw.call.headers['x-forwarded-for']);
    try {
      if (!isOperational) admission.checkLoad('public');
      ticket.takePublicPlace(publicUnits);
      raw.onClose(() => ticket.end());
      tickets.set(raw.key, ticket);
      admission.takePublicTurn(handOn, () => raw.isGone());
    } catch (error) {
      ticket.end();
      raw.refuse(error);
    }
  }

  return {
    stream(stream, headers, handOn) {
      const call = { path: pathOf(String(headers[':path'] ?? '')), headers };
      pass(
        {
          key: stream,
          connection: stream.session,
          call,
          onClose: (listener) => void stream.once('close', listener),
          isGone: () => stream.destroyed || stream.closed,
          refuse: (error) => refuse.stream(error, call, stream),
        },
        handOn,
      );
    },
    request(request, response, handOn) {
      const call = { path: pathOf(request.url ?? ''), headers: request.headers };
      pass(
        {
          key: request,
          connection: request.socket,
          call,
          onClose: (listener) => void response.once('close', listener),
          isGone: () => response.destroyed || response.closed,
          refuse(error) {
            refuse.request(error, call, response);
            admission.peerOf(request.socket)?.ignoreRest();
          },
        },
        handOn,
      );
    },
    ticketOf(raw, connection, headers) {
      return tickets.get(raw) ?? admission.ticket(connection, headers['x-forwarded-for']);
    },
  };
}

function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}
