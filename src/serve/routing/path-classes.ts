import { type CallClass, callClassOf } from '../admission/call-class.js';
import type { PathClass } from '../admission/front-gate.js';
import { type RpcMethod, restTemplate } from '../descriptors/rpc-methods.js';
import { hostPaths, hostUnits } from './host-routes.js';

/** Cost of calls without a key, in units of a simple request: Connect takes some hundred µs for an RPC. */
const RPC_UNITS = 5;

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
  const otherStarts = new Set<string>();
  for (const method of methods) {
    rpcs.set(`/${method.name}`, callClassOf(method));
    for (const binding of method.bindings) {
      const template = restTemplate(binding, apiBase);
      if (method.isEvaluation) evaluations.add(template);
      // Routes of a standard with paths of its own.
      if (!template.startsWith(`${apiBase}/`)) otherStarts.add(template.split('{', 1)[0] ?? template);
    }
  }
  const others = [...otherStarts];
  const apiStart = `${apiBase}/`;
  const units = hostUnits(apiPrefix);
  const operational = new Set(hostPaths(['operations'], apiPrefix).map(({ template }) => template));
  const keyed: PathClass = { callClass: 'keyed', publicUnits: 1, isOperational: false };
  const evaluation: PathClass = { callClass: 'evaluation', publicUnits: 1, isOperational: false };
  return (path) => {
    if (path.startsWith(apiStart)) return evaluations.has(path) ? evaluation : keyed;
    if (others.some((start) => path.startsWith(start))) return keyed;
    const callClass = rpcs.get(path);
    if (callClass === 'evaluation') return evaluation;
    if (callClass === 'keyed') return keyed;
    const publicUnits = isRpcPath(path) ? RPC_UNITS : (units.get(path) ?? 1);
    return { callClass: 'public', publicUnits, isOperational: operational.has(path) };
  };
}
