import { z } from 'zod';

/** Names of upstreams are parts of names of tools, so they have the characters of these. */
const upstreamName = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/,
    'must have 1 to 32 lower-case letters, digits and "-", and begin and end with a letter or digit',
  );
const seconds = (least: number, most: number) => z.number().min(least).max(most);
const bytes = z.number().int().min(1_024).max(1_073_741_824);
const texts = z.record(z.string(), z.string());
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an address with http:// or https://' });
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header')
  .transform((name) => name.toLowerCase());

/** Where a name comes from: exactly one member. */
const source = {
  header: headerName.optional(),
  /** A claim of the token that `auth` has verified. */
  claim: z.string().min(1).optional(),
};
const checked = z.enum(['both', 'pre', 'post', 'none']).default('both');
/** What only a server says. */
const told = z.enum(['post', 'none']).default('post');

const upstream = z
  .strictObject({
    name: upstreamName,
    url: httpUrl.optional(),
    headers: texts.default({}),
    command: z.string().min(1).optional(),
    args: z.array(z.string()).default([]),
    env: texts.default({}),
    cwd: z.string().optional(),
    /** Without an answer or progress for this long a request fails. */
    timeout_seconds: seconds(0.05, 86_400).default(60),
    /** How long callers wait for its connection and for its lists. What takes longer goes on in the background. */
    answer_seconds: seconds(0.05, 86_400).default(5),
    /** Longest time of a request whatever progress it tells. */
    max_seconds: seconds(0.05, 86_400).default(600),
    /** Largest message of the upstream. */
    max_result_bytes: bytes.default(4_194_304),
  })
  .refine(({ url, command }) => (url === undefined) !== (command === undefined), {
    error: 'needs either url or command',
  })
  .refine(
    ({ url, args, env, cwd }) =>
      url === undefined || (args.length === 0 && cwd === undefined && Object.keys(env).length === 0),
    {
      error: 'args, env and cwd belong to command, not to url',
    },
  );

const listen = z
  .strictObject({
    transport: z.enum(['http', 'stdio']).default('http'),
    host: z.string().min(1).default('127.0.0.1'),
    port: z.number().int().min(0).max(65_535).default(8_300),
    path: z
      .string()
      .regex(/^\/[^?#]*$/, 'must be a path that begins with /')
      .default('/mcp'),
    /** Host names that clients may use, without ports: against DNS rebinding. */
    allowed_hosts: z.array(z.string().min(1)).default(['localhost', '127.0.0.1', '[::1]']),
    /** Host names of web pages that may call the gateway. */
    allowed_origins: z.array(z.string().min(1)).default(['localhost', '127.0.0.1', '[::1]']),
    max_body_bytes: bytes.default(4_194_304),
    /** Sessions of clients before version 2026-07-28 that are open at the same time. */
    max_sessions: z.number().int().min(1).max(1_000_000).default(10_000),
    session_idle_seconds: seconds(1, 604_800).default(3_600),
    /** Calls that are worked on at the same time. */
    max_calls: z.number().int().min(1).max(1_000_000).default(1_000),
  })
  .prefault({});

/** Metrics in the text format of Prometheus, on a port of their own. */
const metrics = z.strictObject({
  /** It serves them to each of its callers, without authentication. */
  host: z.string().min(1).default('127.0.0.1'),
  port: z.number().int().min(0).max(65_535).default(8_301),
});

const auth = z.strictObject({
  issuer: httpUrl,
  /** Tokens must be for this audience (RFC 8707): the address of the gateway as its clients use it. */
  audience: httpUrl,
  jwks_url: httpUrl,
  scopes: z.array(z.string()).default([]),
});

const service = z
  .strictObject({
    url: httpUrl.optional(),
    key_env: z.string().min(1).optional(),
    key_file: z.string().min(1).optional(),
    ca_file: z.string().min(1).optional(),
    timeout_seconds: seconds(0.05, 600).default(5),
    /** What happens with calls that the service does not answer. */
    on_unavailable: z.enum(['deny', 'allow']).default('deny'),
  })
  .refine(({ key_env, key_file }) => key_env === undefined || key_file === undefined, {
    error: 'has key_env and key_file: give one',
  })
  .prefault({});

const mapping = z.strictObject({
  agent: z
    .strictObject({
      fixed: z.string().min(1).optional(),
      ...source,
      /** The name that the client gives itself, which nothing proves. */
      client_name: z.literal(true).optional(),
      /** The agents of values; without it a value is the name of the agent. */
      names: texts.optional(),
      /** The agent of other values, and of calls without one; these are refused when absent. */
      otherwise: z.string().min(1).optional(),
    })
    .refine(
      ({ fixed, header, claim, client_name }) =>
        [fixed, header, claim, client_name].filter((one) => one !== undefined).length === 1,
      { error: 'needs exactly one of fixed, header, claim and client_name' },
    ),
  /** Id of the session; that of the protocol when absent, which version 2026-07-28 does not have. */
  session: z
    .strictObject({ header: headerName.optional(), meta: z.string().min(1).optional() })
    .refine(({ header, meta }) => (header === undefined) !== (meta === undefined), {
      error: 'needs either header or meta',
    })
    .optional(),
  /** Who calls: states of approvals and sessions belong to it. The subject of the token when absent. */
  principal: z.strictObject({ header: headerName }).optional(),
  tool_names: z.enum(['prefixed', 'plain']).default('prefixed'),
});

const approvals = z
  .strictObject({
    /** What clients of version 2026-07-28 get: a result that asks to repeat the call, a call that waits, or a denial. */
    mode: z.enum(['input_required', 'wait', 'deny']).default('input_required'),
    earlier_versions: z.enum(['wait', 'deny']).default('wait'),
    /** Address of the page of an approval, with `{id}`. */
    page: z
      .string()
      .regex(/^https?:\/\/.*\{id\}/, 'must be an address with {id}')
      .optional(),
    wait_seconds: seconds(1, 86_400).default(300),
    /** How long a repeated call waits for the decision before it is asked to repeat again. */
    retry_hold_seconds: seconds(0, 300).default(20),
    state_seconds: seconds(1, 604_800).default(3_600),
    /** Variable with the secret of states, 32 characters or more; random when absent. */
    state_key_env: z.string().min(1).optional(),
  })
  .prefault({});

const pins = z
  .strictObject({
    /** Remembers tools over restarts; in memory when absent. */
    file: z.string().min(1).optional(),
    new_tools: z.enum(['accept', 'quarantine']).default('accept'),
    changed_tools: z.enum(['accept', 'quarantine']).default('quarantine'),
    /** How old the list of the tools of an upstream may be when one is called. */
    refresh_seconds: seconds(0, 86_400).default(60),
  })
  .prefault({});

/** The settings of a gateway, as docs/mcp-gateway.md describes them. */
export const gatewayConfig = z
  .strictObject({
    listen,
    auth: z.union([auth, z.literal('none')]).optional(),
    service,
    upstreams: z.array(upstream).min(1).max(100),
    mapping,
    checks: z
      .strictObject({
        ...{ tools: checked, resources: checked, prompts: checked, completions: checked },
        /** Lists of tools, resources, their templates and prompts. */
        lists: told,
        /** Texts of progress and log messages. */
        messages: told,
      })
      .prefault({}),
    /** Names of tools that are neither listed nor called; `*` stands for any text. */
    hidden: z.array(z.string().min(1)).default([]),
    /** Whether tools that the controls of the agent deny in any case are left out of lists. */
    hide_denied: z.boolean().default(true),
    approvals,
    pins,
    /** Not served when absent. */
    metrics: metrics.optional(),
  })
  .superRefine((config, context) => {
    const fail = (path: PropertyKey[], message: string): void =>
      context.addIssue({ code: 'custom', path, message });
    const names = config.upstreams.map(({ name }) => name);
    for (const [index, name] of names.entries())
      if (names.indexOf(name) !== index) fail(['upstreams', index, 'name'], `${name} occurs twice`);
    if (config.mapping.tool_names === 'plain' && names.length > 1)
      fail(['mapping', 'tool_names'], 'must be prefixed with several upstreams');
    const { transport, host } = config.listen;
    const usesHttp = [
      config.mapping.agent.header,
      config.mapping.session?.header,
      config.mapping.principal?.header,
    ];
    if (transport === 'stdio' && usesHttp.some((one) => one !== undefined))
      fail(['mapping'], 'names a header, which clients over stdio do not send');
    const hasAuth = config.auth !== undefined && config.auth !== 'none';
    if (config.mapping.agent.claim !== undefined && !hasAuth)
      fail(['mapping', 'agent', 'claim'], 'needs auth, which verifies tokens');
    if (transport === 'http' && config.auth === undefined && !isLoopback(host))
      fail(
        ['auth'],
        `is missing: ${host} is reached from other machines. Give auth, or "none" behind a proxy that authenticates`,
      );
    for (const [index, { timeout_seconds, max_seconds }] of config.upstreams.entries())
      if (timeout_seconds > max_seconds)
        fail(['upstreams', index, 'timeout_seconds'], 'must not be more than max_seconds');
  });

export type GatewayConfig = z.output<typeof gatewayConfig>;
export type UpstreamConfig = GatewayConfig['upstreams'][number];
export type CheckedStages = z.output<typeof checked>;

/** Whether only this machine reaches what listens there. */
function isLoopback(host: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/.test(host);
}
