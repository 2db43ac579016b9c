import { type DescMessage, type DescMethod, type DescService, hasOption } from '@bufbuild/protobuf';
import {
  Access,
  AgentScope,
  access,
  agent_scope,
  evaluation,
  NullRule,
  nulls,
  operation,
  scopes,
  success_status,
} from '../../../gen/proto/enforcement/v1/options_pb.js';
import { http } from '../../../gen/proto/google/api/annotations_pb.js';
import type { HttpRule } from '../../../gen/proto/google/api/http_pb.js';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { isScope, type Scope, type ScopeMask, scopeMask } from '../../contract/call/scopes.js';
import { optionOf } from '../../contract/warnings/proto-option.js';

/** How an RPC is called over JSON. */
export interface HttpBinding {
  readonly verb: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH';
  /** Path as declared in the proto, for example `/api/v1/controls/{control_id}`. */
  readonly template: string;
  /** Members taken from the path. */
  readonly pathMembers: readonly string[];
  /**
   * `*`: the body holds every member that is not in the path. A name: the body is that member, and others are in the query.
   * Empty: there is no body.
   */
  readonly body: string;
  /** Member of the reply that is the whole body; empty for the reply itself. */
  readonly responseBody: string;
}

/** An RPC and its options. */
export interface RpcMethod {
  readonly desc: DescMethod;
  /** `package.Service/Method`, as on the wire. */
  readonly name: string;
  readonly access: Access;
  /** A caller needs any one of these. */
  readonly scopes: readonly Scope[];
  /** The same as a set. */
  readonly scopeMask: ScopeMask;
  /** By which an upstream is asked whether a call is allowed. */
  readonly operation: string;
  /** What a key that is limited to agents may do with it. */
  readonly agentScope: AgentScope;
  /** Whether it evaluates steps: under overload it is refused last. */
  readonly isEvaluation: boolean;
  readonly successStatus: number;
  readonly omitNulls: boolean;
  readonly bindings: readonly HttpBinding[];
}

/** Prefix of HTTP paths in the proto; a setting may replace it. */
export const PROTO_API_BASE = '/api/v1';

/**
 * Reads the options of every method of a service. Throws if a method does not declare who may call it, and with which
 * scopes.
 */
export function rpcMethods(service: DescService): RpcMethod[] {
  return service.methods.map((desc) => {
    const level = optionOf(desc, access);
    const name = `${service.typeName}/${desc.name}`;
    if (level === Access.UNSPECIFIED) throw new Error(`${name} states no access level`);
    const agentScope = optionOf(desc, agent_scope);
    if (agentScope === AgentScope.UNSPECIFIED) throw new Error(`${name} states no agent scope`);
    if (agentScope === AgentScope.BY_EVALUATION && !optionOf(desc, evaluation))
      throw new Error(`${name} has the scope BY_EVALUATION, but does not evaluate`);
    const taken = optionOf(desc, scopes);
    const unknown = taken.find((scope) => !isScope(scope));
    if (unknown !== undefined || taken.length === 0) throw new Error(`${name} states no scope that exists`);
    const operationName = optionOf(desc, operation);
    if (operationName === '') throw new Error(`${name} states no operation`);
    return {
      desc,
      name,
      access: level,
      scopes: taken.filter(isScope),
      scopeMask: scopeMask(taken),
      operation: operationName,
      agentScope,
      isEvaluation: optionOf(desc, evaluation),
      successStatus: hasOption(desc, success_status) ? optionOf(desc, success_status) : 200,
      omitNulls: optionOf(desc, nulls) === NullRule.OMIT,
      bindings: hasOption(desc, http) ? httpBindings(optionOf(desc, http), desc, name) : [],
    };
  });
}

function httpBindings(rule: HttpRule, desc: DescMethod, name: string): HttpBinding[] {
  return [rule, ...rule.additionalBindings].map((one) => httpBinding(one, desc, name));
}

function httpBinding(rule: HttpRule, desc: DescMethod, name: string): HttpBinding {
  const { case: verb, value: template } = rule.pattern;
  if (verb === undefined || verb === 'custom') throw new Error(`${name} has an HTTP rule without a method`);
  const pathMembers = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  const inBody = rule.body === '*' ? [] : [rule.body];
  checkNames(name, desc.input, [...pathMembers, ...inBody]);
  checkNames(name, desc.output, [rule.responseBody]);
  return {
    verb: verb.toUpperCase() as HttpBinding['verb'],
    template,
    pathMembers,
    body: rule.body,
    responseBody: rule.responseBody,
  };
}

function checkNames(rpc: string, message: DescMessage, members: readonly string[]): void {
  const unknown = members.find(
    (member) => member !== '' && !message.fields.some((field) => field.name === member),
  );
  if (unknown === undefined) return;
  throw new Error(`${rpc}: the HTTP rule names ${unknown}, which ${message.typeName} does not have`);
}

/** A body of a route as members of its request. */
export function bodyMembers({ body }: Pick<HttpBinding, 'body'>, value: JsonValue): JsonObject {
  return body === '*' ? (value as JsonObject) : { [body]: value };
}

/** The path of a binding under the configured prefix. */
export function restTemplate({ template }: Pick<HttpBinding, 'template'>, apiBase: string): string {
  return rebased(template, PROTO_API_BASE, apiBase);
}

/** A path with another base in place of `base`; as it is if it is not below that. */
export function rebased(path: string, base: string, other: string): string {
  return path.startsWith(`${base}/`) ? other + path.slice(base.length) : path;
}
