import { type DescMethod, type DescService, hasOption } from '@bufbuild/protobuf';
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
import { isScope, type Scope, type ScopeMask, scopeMask } from '../../contract/call/scopes.js';
import { optionOf } from '../../contract/proto-option.js';

/** How an RPC is called over JSON. */
export interface HttpBinding {
  readonly verb: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH';
  /** Path as declared in the proto, for example `/api/v1/controls/{control_id}`. */
  readonly template: string;
  /** Members taken from the path. */
  readonly pathMembers: readonly string[];
  /** `*`: the body holds every member that is not in the path. Empty: there is no body. */
  readonly body: '*' | '';
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
  if (rule.body !== '' && rule.body !== '*') throw new Error(`${name}: only body "*" is supported`);
  const pathMembers = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  for (const member of [...pathMembers, ...(rule.responseBody === '' ? [] : [rule.responseBody])]) {
    const message = member === rule.responseBody ? desc.output : desc.input;
    if (!message.fields.some((field) => field.name === member)) {
      throw new Error(`${name}: the HTTP rule names ${member}, which ${message.typeName} does not have`);
    }
  }
  return {
    verb: verb.toUpperCase() as HttpBinding['verb'],
    template,
    pathMembers,
    body: rule.body,
    responseBody: rule.responseBody,
  };
}

/** The path of a binding under the configured prefix. */
export function restTemplate(binding: HttpBinding, apiBase: string): string {
  return binding.template.startsWith(`${PROTO_API_BASE}/`)
    ? apiBase + binding.template.slice(PROTO_API_BASE.length)
    : binding.template;
}
