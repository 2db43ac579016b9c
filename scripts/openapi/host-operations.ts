import type { JsonObject } from '../../packages/exact-json/src/index.js';
import { HOST_ROUTES, type HostRouteName, hostPath } from '../../src/serve/routing/host-routes.js';
import { MEDIA_TYPES } from '../../src/serve/wire/media-types.js';
import { STORAGE_STATES } from '../../src/storage/database/storage-health/storage-state.js';
import { withReplyExample } from './examples.js';
import { failure, response } from './problem-schemas.js';
import type { SchemaPool } from './schema-pool.js';

/** An operation of the host itself, which has no descriptor. */
export interface HostOperation {
  readonly path: string;
  readonly verb: string;
  readonly operation: JsonObject;
}

const BOOLEAN: JsonObject = { type: 'boolean' };
const TEXT: JsonObject = { type: 'string' };

function object(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return { type: 'object', properties, required };
}

const FACTS: JsonObject = {
  version: { ...TEXT, description: 'Version of the service.' },
  database: { ...TEXT, enum: ['up', 'down'], description: 'Whether the database answered last.' },
  storage: {
    ...TEXT,
    enum: [...STORAGE_STATES],
    description: 'Whether what is stored is kept: OK, or why nothing can be stored.',
  },
  instance_id: {
    ...TEXT,
    format: 'uuid',
    description: 'Tells this database from every other one; a restored backup keeps it.',
  },
  revision: { type: 'integer', description: 'Revision that evaluations see.' },
  controls_from: {
    ...TEXT,
    enum: ['database', 'last_known_good', 'nothing'],
    description:
      'Where the controls come from that decide: last_known_good when the service started without its database, ' +
      'nothing when it has no such file either and refuses every evaluation.',
  },
};
/** Only with controls of the last known good file. */
const CONTROLS_AGE: JsonObject = {
  controls_age_seconds: {
    type: 'integer',
    minimum: 0,
    description: 'Seconds since the controls of the last known good file were certainly the latest.',
  },
};

/** A reply of /health or /ready. */
function stateReply(members: JsonObject): JsonObject {
  const always = { ...members, ...FACTS };
  return object({ ...always, ...CONTROLS_AGE }, Object.keys(always));
}

const HEALTH = object(
  {
    status: {
      ...TEXT,
      enum: ['healthy', 'unhealthy'],
      description: 'Unhealthy when no agent can be evaluated.',
    },
    reason: { ...TEXT, description: 'Why it is unhealthy.' },
    ...FACTS,
    ...CONTROLS_AGE,
  },
  ['status', ...Object.keys(FACTS)],
);

/**
 * Every operation of the host for clients, excluding the metrics. `apiPrefix` is the first part of the path
 * of the JSON routes.
 */
export function hostOperations(apiPrefix: string, pool: SchemaPool): HostOperation[] {
  const login = pool.define('LoginReply', () => ({
    description: 'Whether the key was accepted.',
    ...object(
      {
        authenticated: BOOLEAN,
        is_admin: { ...BOOLEAN, description: 'Whether it is an admin key.' },
        detail: { ...TEXT, description: 'Why logins are not taken from here.' },
      },
      ['authenticated', 'is_admin'],
    ),
  }));
  const operation = (route: HostRouteName, operationId: string, summary: string, rest: JsonObject) => {
    const { part, methods } = HOST_ROUTES[route];
    const tags = [part === 'operations' ? 'Operations' : 'Session'];
    return {
      path: hostPath(route, apiPrefix),
      verb: (methods[0] ?? 'GET').toLowerCase(),
      operation: { operationId, tags, summary, 'x-access': 'public', security: [], ...rest },
    };
  };
  const get = (route: HostRouteName, operationId: string, summary: string, responses: JsonObject) => {
    const [[status, success] = ['200', {}], ...others] = Object.entries(responses);
    const shown = {
      [status]: withReplyExample(operationId, success as JsonObject),
      ...Object.fromEntries(others),
    };
    return operation(route, operationId, summary, { responses: { ...shown, default: failure('Failure') } });
  };
  const setCookie: JsonObject = { 'Set-Cookie': { description: 'The session.', schema: TEXT } };
  return [
    get('health', 'getHealth', 'Tells whether the process can evaluate', {
      '200': response('Whether it can.', HEALTH),
    }),
    get('ready', 'getReadiness', 'Tells whether requests should be sent here', {
      '200': response('They should.', stateReply({ status: { const: 'ready' } })),
      '503': response('They should not, now.', stateReply({ status: { const: 'not_ready' }, reason: TEXT })),
    }),
    get('config', 'getConfig', 'Tells a browser whether it has to log in', {
      '200': response(
        'How callers authenticate.',
        object(
          {
            requires_api_key: BOOLEAN,
            auth_mode: { ...TEXT, enum: ['none', 'api-key'] },
            has_active_session: {
              ...BOOLEAN,
              description: 'Whether this request carries valid credentials.',
            },
            sign_in: {
              ...object({ name: TEXT, path: TEXT }),
              description:
                'The login at the OpenID Connect issuer, if there is one: its name, and where it begins.',
            },
          },
          ['requires_api_key', 'auth_mode', 'has_active_session'],
        ),
      ),
    }),
    operation('login', 'login', 'Starts a session with an API key', {
      requestBody: {
        required: true,
        content: {
          [MEDIA_TYPES.json]: {
            schema: { ...object({ api_key: TEXT }), examples: [{ api_key: 'a-key-of-the-service' }] },
          },
        },
      },
      responses: {
        '200': withReplyExample('login', {
          ...response('The session is in the cookie.', login),
          headers: setCookie,
        }),
        '401': response('The key is unknown.', login),
        // Over plain HTTP the body is that of a refused key; for a page of another origin it is a problem.
        '403': response('Not from here, or not without TLS.', {
          anyOf: [login, { $ref: '#/components/schemas/Problem' }],
        }),
        '422': failure('Invalid'),
        default: failure('Failure'),
      },
    }),
    operation('namespace', 'switchNamespace', 'Continues the session in another namespace', {
      requestBody: {
        required: true,
        content: {
          [MEDIA_TYPES.json]: {
            schema: { ...object({ namespace: TEXT }), examples: [{ namespace: 'payments' }] },
          },
        },
      },
      responses: {
        '200': withReplyExample('switchNamespace', {
          ...response(
            'The cookie is another one; the one before is not valid any more.',
            object({ namespace: TEXT }),
          ),
          headers: setCookie,
        }),
        '401': failure('Unauthenticated'),
        '403': failure('Forbidden'),
        '404': failure('NotFound'),
        '422': failure('Invalid'),
        default: failure('Failure'),
      },
    }),
    operation('logout', 'logout', 'Ends the session', {
      responses: {
        '204': { description: 'The cookie is gone.', headers: setCookie },
        default: failure('Failure'),
      },
    }),
  ];
}
