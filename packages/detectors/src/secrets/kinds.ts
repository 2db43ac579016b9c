import type { SecretKind } from './rule.js';

/**
 * Scores say what a finding is worth without knowing its source. 0.95: a prefix of its provider with the right length
 * and alphabet. 0.9: a structure that is checked further. 0.85: a short prefix, or a wide range of lengths. Below: generic.
 */
const ROWS: readonly (readonly [name: string, rule: string, score: number, what: string])[] = [
  ['aws_access_key_id', 'aws', 0.7, 'id of an access key of AWS; not secret by itself'],
  ['aws_secret_access_key', 'aws', 0.9, '40 characters assigned to a secret access key'],
  ['gcp_service_account', 'gcp', 0.95, 'JSON document of a service account of Google Cloud with its key'],
  ['private_key', 'privatekey', 0.95, 'private key in PEM or OpenSSH form whose content begins like one'],
  ['npm_token', 'npm', 0.85, 'access token of npm; 0.98 if its checksum is right'],
  ['npmrc_auth_token', 'npm', 0.7, '`_authToken` of an `.npmrc`'],
  ['github_x_oauth', 'npm', 0.9, 'token in a URL with `x-oauth-basic`'],
  ['basic_auth_url', 'basicauth', 0.8, 'URL with a user name and a password'],
  ['slack_token', 'slack', 0.85, 'token of Slack'],
  ['slack_webhook', 'slack', 0.85, 'incoming webhook of Slack'],
  ['sendgrid_key', 'sendgrid', 0.95, 'key of SendGrid'],
  ['shopify_key', 'shopify', 0.95, 'token of Shopify'],
  ['github_token', 'github', 0.85, 'token of GitHub; 0.98 if the checksum of a classic one is right'],
  ['gitlab_token', 'gitlab', 0.85, 'personal access token of GitLab'],
  ['grafana_token', 'grafana', 0.9, 'token of Grafana'],
  ['openai_key', 'openai', 0.95, 'key of OpenAI'],
  ['anthropic_key', 'anthropic', 0.95, 'key of Anthropic'],
  ['groq_key', 'groq', 0.95, 'key of Groq'],
  ['huggingface_token', 'huggingface', 0.9, 'token of Hugging Face'],
  ['linear_key', 'linear', 0.9, 'key of Linear'],
  ['notion_token', 'notion', 0.95, 'token of Notion'],
  ['onepassword_token', '1password', 0.95, 'service account token of 1Password, whose JSON is read'],
  ['database_url', 'database-connection-string', 0.85, 'URL of MongoDB, MySQL or PostgreSQL with a password'],
  ['vault_token', 'hashicorp-vault', 0.9, 'token of HashiCorp Vault'],
  ['vercel_token', 'vercel', 0.85, 'token of Vercel'],
  ['databricks_token', 'databricks', 0.95, 'token of Databricks'],
  ['docker_token', 'docker', 0.95, 'access token of Docker Hub'],
  ['figma_token', 'figma', 0.85, 'token of Figma'],
  ['google_api_key', 'google', 0.9, 'API key of Google'],
  ['google_oauth_secret', 'google', 0.95, 'client secret of Google'],
  ['google_oauth_token', 'google', 0.85, 'access token of Google'],
  ['stripe_live_key', 'stripe', 0.95, 'live key, or secret of a webhook, of Stripe'],
  ['stripe_test_key', 'stripe', 0.6, 'test key of Stripe'],
  ['azure_storage_key', 'azure', 0.95, 'account key, or shared access key, in a connection string of Azure'],
  ['pypi_token', 'pypi', 0.95, 'token of PyPI'],
  ['telegram_bot_token', 'telegram', 0.85, 'token of a bot of Telegram'],
  ['discord_webhook', 'discord', 0.85, 'webhook of Discord'],
  ['digitalocean_token', 'digitalocean', 0.95, 'token of DigitalOcean'],
  ['atlassian_token', 'atlassian', 0.9, 'API token of Atlassian'],
  ['age_secret_key', 'age', 0.95, 'identity of age'],
  ['jwt', 'jwt', 0.8, 'signed JSON Web Token whose header names an algorithm'],
  ['authorization_header', 'authorization', 0.7, 'credentials of the schemes Bearer and Basic'],
  ['password_assignment', 'assignment', 0.6, 'password behind its name; 0.3 for one that may be a word'],
  [
    'secret_assignment',
    'assignment',
    0.6,
    'key, token or secret behind its name; 0.3 for one that may be a word',
  ],
];

/** All kinds, in the order of the documentation. */
export const SECRET_KINDS: readonly SecretKind[] = ROWS.map(([name, rule, score, what]) => ({
  name,
  rule,
  score,
  what,
}));

/** Score of a finding of a kind. Throws for a kind that does not exist. */
export function scoreOfKind(kind: string): number {
  const score = scores.get(kind);
  if (score === undefined) throw new Error(`there is no kind of secret ${kind}`);
  return score;
}

const scores = new Map(SECRET_KINDS.map(({ name, score }) => [name, score]));

/** Ids of rules, as in configurations. */
export const SECRET_RULE_IDS: readonly string[] = [...new Set(SECRET_KINDS.map(({ rule }) => rule))];
