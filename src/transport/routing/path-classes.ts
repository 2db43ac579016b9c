import { type CallClass, callClassOf } from '../admission/call-class.js';
import type { PathClass } from '../admission/front-gate.js';
import { type RpcMethod, restTemplate } from '../descriptors/rpc-methods.js';

/** Cost of calls without a key, in units of a simple request: Connect takes some hundred µs for an RPC. */
const RPC_UNITS = 5;
/** Metrics are a long text. */
const METRICS_UNITS = 5;
/** A login checks a key and signs a token; at the issuer, it asks there. */
const LOGIN_UNITS = 5;

export interface PathClassOptions {
  readonly methods: Iterable<RpcMethod>;
  /** Prefix of the JSON routes, for example `/api/v1`; RPCs below it need a key unless they are public. */
  readonly apiBase: string;
  /** Prefix of the session routes, for example `/api`. */
  readonly apiPrefix: string;
}

/** `/package.Service/Method`; no other path of the service has this form. */
const RPC_PATH = /^\/[A-Za-z_][\w.]*\.\w+\/\w+$/;

/** Whether a path has the form of an RPC, served or not. */
export function isRpcPath(path: string): boolean {
  return RPC_PATH.test(path);
}

/** Determines the class of a call by its path alone, before routing. */
export function createPathClasses({
  methods,
  apiBase,
  apiPrefix,
}: PathClassOptions): (path: string) => PathClass {
  const rpcs = new Map<string, CallClass>();
  const evaluations = new Set<string>();
  for (const method of methods) {
    rpcs.set(`/${method.name}`, callClassOf(method));
    if (method.isEvaluation)
      for (const binding of method.bindings) evaluations.add(restTemplate(binding, apiBase));
  }
  const apiStart = `${apiBase}/`;
  const units = new Map([
    ['/metrics', METRICS_UNITS],
    [`${apiPrefix}/login`, LOGIN_UNITS],
    [`${apiPrefix}/oidc/login`, LOGIN_UNITS],
    [`${apiPrefix}/oidc/callback`, LOGIN_UNITS],
  ]);
  const operational = new Set(OPERATIONS_PATHS.map(({ template }) => template) as string[]);
  const keyed: PathClass = { callClass: 'keyed', publicUnits: 1, isOperational: false };
  const evaluation: PathClass = { callClass: 'evaluation', publicUnits: 1, isOperational: false };
  return (path) => {
    if (path.startsWith(apiStart)) return evaluations.has(path) ? evaluation : keyed;
    const callClass = rpcs.get(path);
    if (callClass === 'evaluation') return evaluation;
    if (callClass === 'keyed') return keyed;
    const publicUnits = isRpcPath(path) ? RPC_UNITS : (units.get(path) ?? 1);
    return { callClass: 'public', publicUnits, isOperational: operational.has(path) };
  };
}

/** Paths of the operational routes, with their methods. */
export const OPERATIONS_PATHS = [
  { template: '/health', methods: ['GET'] },
  { template: '/ready', methods: ['GET'] },
  { template: '/metrics', methods: ['GET', 'HEAD'] },
] as const;
