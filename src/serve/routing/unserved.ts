import { Code } from '@connectrpc/connect';
import { callerError, type ServiceError } from '../../contract/errors/service-error.js';
import { didYouMean } from '../../contract/warnings/suggestion.js';
import { isRpcPath } from './path-classes.js';
import type { RouteFinder } from './route-finder.js';

/** Most characters of a path that are repeated in a message. */
const MAX_SHOWN = 200;

/** The routes of a port, for error messages about requests that it does not serve. */
export interface UnservedOptions {
  readonly finder: RouteFinder;
  /** `package.Service/Method` of every RPC. */
  readonly rpcs: readonly string[];
  /** Paths of the JSON routes; null on a port without them. */
  readonly api: {
    /** Prefix of the session routes, for example `/api`. */
    readonly prefix: string;
    /** Prefix of the other routes, for example `/api/v1`. */
    readonly base: string;
    /** Path of their documentation page. */
    readonly docs: string;
  } | null;
}

/** Creates the errors for requests to unserved paths. */
export interface Unserved {
  /** For a plain HTTP request: RESOURCE_NOT_FOUND, with the path that was probably meant. */
  path(path: string): ServiceError;
  /** For an RPC: UNIMPLEMENTED, with the RPC that was probably meant. */
  rpc(path: string): ServiceError;
  /** Whether an unserved path was probably meant as an RPC. */
  isRpc(path: string): boolean;
}

/** Creates the errors for one port. */
export function createUnserved({ finder, rpcs, api }: UnservedOptions): Unserved {
  const methods = new Map<string, string[]>();
  for (const rpc of rpcs) {
    const [service = '', method = ''] = rpc.split('/');
    methods.set(service, [...(methods.get(service) ?? []), method]);
  }
  const packages = new Set(
    [...methods.keys()].map((service) => service.slice(0, service.lastIndexOf('.') + 1)),
  );
  const routes =
    api === null
      ? 'this port serves /health, /ready and /metrics'
      : `JSON routes begin with ${api.base}; see ${api.docs}`;

  /** Index of the service name among the segments of a path; -1 if there is none. */
  function serviceAt(segments: readonly string[]): number {
    const known = segments.findIndex((segment) => methods.has(segment));
    if (known !== -1) return known;
    return segments.findIndex((segment) => packages.has(segment.slice(0, segment.lastIndexOf('.') + 1)));
  }

  function probablyMeant(path: string): string | undefined {
    if (api === null) return undefined;
    const candidates = [api.base + path, api.prefix + path];
    if (path.startsWith(`${api.prefix}/`)) candidates.push(api.base + path.slice(api.prefix.length));
    return candidates.find((candidate) => finder.methodsAt(candidate) !== undefined);
  }

  function correction(service: string, method: string): string {
    const known = methods.get(service);
    if (known !== undefined) return known.includes(method) ? '' : didYouMean(method, known);
    const withMethod = [...methods.keys()].filter((one) => methods.get(one)?.includes(method));
    const meant = didYouMean(service, withMethod.length > 0 ? withMethod : methods.keys());
    return meant === '' ? '' : meant.replace('?', `/${method}?`);
  }

  return {
    path(path) {
      const meant = probablyMeant(path);
      const question = meant === undefined ? '' : ` Did you mean ${shown(meant)}?`;
      return callerError('RESOURCE_NOT_FOUND', { detail: `The path was not found: ${routes}.${question}` });
    },
    rpc(path) {
      const segments = path.split('/').slice(1);
      const found = serviceAt(segments);
      const at = found === -1 ? Math.max(0, segments.length - 2) : found;
      const [service = '', ...rest] = segments.slice(at);
      const method = rest.join('/');
      const isKnown = methods.get(service)?.includes(method) === true;
      const before = segments.slice(0, at).join('/');
      const place = isKnown && at > 0 ? ` below /${shown(before)}` : '';
      const corrected = correction(service, shown(method));
      const advice = at === 0 ? '' : `${corrected === '' ? ';' : ''} baseUrl must have no path`;
      return callerError('RESOURCE_NOT_FOUND', {
        detail: `No RPC ${shown(`${service}/${method}`)}${place}${corrected}${advice}`,
        grpcCode: Code.Unimplemented,
      });
    },
    isRpc: (path) => isRpcPath(path) || serviceAt(path.split('/')) !== -1,
  };
}

function shown(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
