import { rules as presetRules } from '@secretlint/secretlint-rule-preset-recommend';
import type { RawFinding, SecretRule } from './rule.js';

/** The part of the interface of secretlint that its rules use. Its types are in a package that is not installed. */
interface LintRule {
  readonly meta: { readonly id: string };
  readonly messages: object;
  create(context: LintContext, options: object): { file?(source: LintSource): unknown };
}

interface LintContext {
  createTranslator(messages: object): (messageId: string) => string;
  report(finding: { readonly message: string; readonly range: readonly [number, number] }): void;
}

interface LintSource {
  readonly content: string;
  readonly contentType: 'text';
  readonly filePath: string | undefined;
  readonly ext: string;
}

/** How a rule of secretlint is run. */
interface Use {
  readonly anchors: readonly string[];
  readonly before?: number;
  readonly after: number;
  /** Kinds by ids of messages; findings with another message are left out. */
  readonly kinds: Readonly<Record<string, string>>;
  readonly options?: object;
  /** What the rule is told about the file: some look at its name. */
  readonly filePath?: string;
}

const ID_PREFIX = '@secretlint/secretlint-rule-';
/** Code units of context before an anchor: a letter beyond U+FFFF has two. */
const CONTEXT = 2;

/**
 * The rules that are run, by the part of their ids behind `ID_PREFIX`. Widths follow from the longest match of their
 * patterns. All have been read for patterns whose time is not linear: repetitions are bounded, or followed by a character
 * that they cannot read, so that a part is searched in at most some 100 steps for each character.
 *
 * Left out: `filter-comments`, with which a comment in the data would hide findings behind it, and `sendgrid`, whose
 * pattern takes 16,000 steps for each of its anchors and misses keys with hyphens: see `provider-rules.ts`. The files .p12
 * of `gcp` are read from disk by their path, which no text has.
 */
const USES: readonly (readonly [rule: string, use: Use])[] = [
  [
    'aws',
    {
      // The id of an account is no secret.
      anchors: [
        ...['a3t', 'akia', 'agpa', 'aida', 'aroa', 'aipa', 'anpa', 'anva', 'asia'],
        ...['access_key', 'accesskey'],
      ],
      before: 20,
      after: 120,
      kinds: { AWSAccessKeyID: 'aws_access_key_id', AWSSecretAccessKey: 'aws_secret_access_key' },
      options: { enableIDScanRule: true },
    },
  ],
  ['privatekey', { anchors: ['-----begin'], after: 10_200, kinds: { PrivateKey: 'private_key' } }],
  [
    'npm',
    {
      anchors: [':x-oauth-basic@github'],
      before: 300,
      after: 40,
      kinds: { PackageJSON_xOauthToken: 'github_x_oauth' },
      filePath: 'package.json',
    },
  ],
  [
    'npm',
    {
      anchors: ['npm_', '_authtoken='],
      after: 320,
      kinds: { NPM_ACCESS_TOKEN: 'npm_token', Npmrc_authToken: 'npmrc_auth_token' },
      filePath: '.npmrc',
    },
  ],
  [
    'basicauth',
    {
      anchors: ['https://', 'http://', 'ftp://', 'ftps://'],
      after: 800,
      kinds: { BasicAuth: 'basic_auth_url' },
    },
  ],
  [
    'slack',
    {
      anchors: ['xoxb-', 'xoxp-', 'xapp-', 'xoxa-', 'xoxo-', 'xoxr-', 'https://hooks.slack.com/services/'],
      after: 300,
      kinds: { SLACK_TOKEN: 'slack_token', IncomingWebhook: 'slack_webhook' },
    },
  ],
  [
    'shopify',
    { anchors: ['shppa_', 'shpca_', 'shpat_', 'shpss_'], after: 80, kinds: { SHOPIFY_KEY: 'shopify_key' } },
  ],
  [
    'github',
    {
      anchors: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
      after: 100,
      kinds: { GITHUB_TOKEN: 'github_token' },
    },
  ],
  ['gitlab', { anchors: ['glpat-'], after: 140, kinds: { GITLAB_PERSONAL_ACCESS_TOKEN: 'gitlab_token' } }],
  [
    'grafana',
    {
      anchors: ['glc_', 'glsa_'],
      after: 420,
      kinds: { GRAFANA_CLOUD_API_TOKEN: 'grafana_token', GRAFANA_SERVICE_ACCOUNT_TOKEN: 'grafana_token' },
    },
  ],
  [
    'openai',
    {
      anchors: ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 't3blbkfj'],
      before: 24,
      after: 180,
      kinds: { OPENAI_TOKEN: 'openai_key' },
    },
  ],
  ['anthropic', { anchors: ['sk-ant-api0'], after: 160, kinds: { ANTHROPIC_API_KEY: 'anthropic_key' } }],
  ['groq', { anchors: ['gsk_'], after: 70, kinds: { GROQ_API_KEY: 'groq_key' } }],
  [
    'huggingface',
    { anchors: ['hf_'], after: 50, kinds: { HUGGINGFACE_USER_ACCESS_TOKEN: 'huggingface_token' } },
  ],
  ['linear', { anchors: ['lin_api_'], after: 150, kinds: { LINEAR_API_TOKEN: 'linear_key' } }],
  ['notion', { anchors: ['ntn_'], after: 60, kinds: { NOTION_INTEGRATION_TOKEN: 'notion_token' } }],
  ['1password', { anchors: ['ops_ey'], after: 1_300, kinds: { OPS_TOKEN: 'onepassword_token' } }],
  [
    'database-connection-string',
    {
      anchors: ['mongodb://', 'mongodb+srv://', 'mysql://', 'mysqlx://', 'postgres://', 'postgresql://'],
      before: 8,
      after: 1_100,
      kinds: {
        MongoDBConnection: 'database_url',
        MySQLConnection: 'database_url',
        PostgreSQLConnection: 'database_url',
      },
    },
  ],
  [
    'hashicorp-vault',
    {
      anchors: ['hvs.', 'hvb.', 'hvr.'],
      after: 320,
      kinds: {
        HASHICORP_VAULT_SERVICE_TOKEN: 'vault_token',
        HASHICORP_VAULT_BATCH_TOKEN: 'vault_token',
        HASHICORP_VAULT_RECOVERY_TOKEN: 'vault_token',
      },
    },
  ],
  [
    'vercel',
    {
      anchors: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'],
      after: 80,
      kinds: {
        VERCEL_PERSONAL_ACCESS_TOKEN: 'vercel_token',
        VERCEL_INTEGRATION_TOKEN: 'vercel_token',
        VERCEL_APP_ACCESS_TOKEN: 'vercel_token',
        VERCEL_APP_REFRESH_TOKEN: 'vercel_token',
        VERCEL_AI_GATEWAY_API_KEY: 'vercel_token',
      },
    },
  ],
  [
    'databricks',
    { anchors: ['dapi'], after: 50, kinds: { DATABRICKS_PERSONAL_ACCESS_TOKEN: 'databricks_token' } },
  ],
  ['docker', { anchors: ['dckr_pat_'], after: 50, kinds: { DOCKER_PERSONAL_ACCESS_TOKEN: 'docker_token' } }],
  ['figma', { anchors: ['figd_'], after: 220, kinds: { FIGMA_PERSONAL_ACCESS_TOKEN: 'figma_token' } }],
];

/** Rules of secretlint that are not run, by the reasons above. */
export const UNUSED_LINT_RULES: readonly string[] = ['filter-comments', 'sendgrid'];

/** The names of all rules of secretlint that are installed. */
export const installedLintRules = (): readonly string[] =>
  (presetRules as unknown as readonly LintRule[]).map(({ meta }) => meta.id.slice(ID_PREFIX.length));

function ruleNamed(name: string): LintRule {
  // Typed by a package that is not installed.
  const all = presetRules as unknown as readonly LintRule[];
  const found = all.find(({ meta }) => meta.id === ID_PREFIX + name);
  if (found === undefined) throw new Error(`secretlint has no rule ${ID_PREFIX}${name}`);
  return found;
}

/** Runs a rule of secretlint on one text, at once: its rules are synchronous except for files that are read. */
function runner(
  name: string,
  use: Use,
): (content: string, ext: string, found: (finding: RawFinding) => void) => void {
  let receive: (finding: RawFinding) => void = () => undefined;
  const rule = ruleNamed(name);
  const renamed = Object.keys(use.kinds).filter((message) => !Object.hasOwn(rule.messages, message));
  if (renamed.length > 0)
    throw new Error(`the rule ${name} of secretlint has no messages ${renamed.join(', ')}`);
  const { file } = rule.create(
    {
      createTranslator: () => (messageId) => messageId,
      report({ message, range: [start, end] }) {
        const kind = use.kinds[message];
        if (kind !== undefined) receive({ kind, start, end });
      },
    },
    use.options ?? {},
  );
  if (file === undefined) throw new Error(`the rule ${name} of secretlint does not look at files`);
  return (content, ext, found) => {
    receive = found;
    file({ content, contentType: 'text', filePath: use.filePath, ext });
  };
}

/** The rules of secretlint, as far as they are used. */
export const secretlintRules: readonly SecretRule[] = USES.map(([id, use]) => {
  const run = runner(id, use);
  const { anchors, before = 0, after } = use;
  const find: SecretRule['find'] = (part, found) => run(part, '', found);
  return { id, anchors, before: before + CONTEXT, after, mayBeGlued: true, find };
});

const SERVICE_ACCOUNT: Use = { anchors: [], after: 0, kinds: { PrivateKeyJSON: 'gcp_service_account' } };
const runServiceAccount = runner('gcp', SERVICE_ACCOUNT);

/** Longest text that is read as the document of a service account, in code units; they have some 2,400. */
const MAX_DOCUMENT = 20_000;

/** Looks at a whole text, which may be the JSON document of a service account. */
export function findServiceAccount(text: string, found: (finding: RawFinding) => void): void {
  if (text.length > MAX_DOCUMENT || !text.includes('"private_key_id"')) return;
  runServiceAccount(text, '.json', found);
}
