import { describe, expect, it } from 'vitest';
import { errorItems } from '../../../../src/contract/input/items.js';
import type { EvaluatorResult } from '../../../../src/kernel/core/types.js';
import { SECRET_FORMS } from '../../../../test/corpora/secrets/secrets-corpus.support.js';
import { FULL_CALL } from '../../../../test/support/check-call.js';
import type { JsonObject, JsonValue } from '../../../exact-json/src/index.js';
import type { Finding } from '../../src/detector/finding.js';
import { SECRET_KINDS, SECRET_RULE_IDS } from '../../src/secrets/kinds.js';
import {
  installedLintRules,
  secretlintRules,
  UNUSED_LINT_RULES,
} from '../../src/secrets/secretlint-rules.js';
import { secretsEvaluator } from '../../src/secrets/secrets.js';

const evaluate = (data: JsonValue, config: JsonObject = {}) =>
  secretsEvaluator.compile(config).evaluate(data, FULL_CALL) as EvaluatorResult;
const findings = (data: JsonValue, config: JsonObject = {}) =>
  (evaluate(data, config).metadata?.findings ?? []) as unknown as readonly Finding[];

function problems(config: JsonValue) {
  const parsed = secretsEvaluator.configSchema.safeParse(config, { reportInput: true });
  return parsed.success
    ? []
    : errorItems(parsed.error).map(({ field, code, message }) => [field, code, message]);
}

/** Texts of a form, the same in each run. */
function made(form: string): string {
  let turn = form.length;
  return (
    SECRET_FORMS[form]?.((alphabet, length) =>
      Array.from({ length }, () => {
        turn = (turn * 48_271 + 11) % 2_147_483_647;
        return alphabet[turn % alphabet.length] ?? '';
      }).join(''),
    ) ?? ''
  );
}

const GITHUB = made('github_classic');

/** The kind of each form that is a secret by itself, whatever is in front of it. */
const KINDS: Readonly<Record<string, string>> = {
  aws_id: 'aws_access_key_id',
  aws_session_id: 'aws_access_key_id',
  github_classic: 'github_token',
  github_oauth: 'github_token',
  github_server: 'github_token',
  github_fine: 'github_token',
  gitlab: 'gitlab_token',
  npm: 'npm_token',
  slack_bot: 'slack_token',
  slack_user: 'slack_token',
  slack_hook: 'slack_webhook',
  sendgrid: 'sendgrid_key',
  shopify: 'shopify_key',
  grafana: 'grafana_token',
  openai: 'openai_key',
  openai_old: 'openai_key',
  anthropic: 'anthropic_key',
  groq: 'groq_key',
  huggingface: 'huggingface_token',
  linear: 'linear_key',
  notion: 'notion_token',
  vault: 'vault_token',
  vercel: 'vercel_token',
  databricks: 'databricks_token',
  docker: 'docker_token',
  figma: 'figma_token',
  onepassword: 'onepassword_token',
  google: 'google_api_key',
  google_secret: 'google_oauth_secret',
  google_token: 'google_oauth_token',
  stripe: 'stripe_live_key',
  stripe_test: 'stripe_test_key',
  stripe_hook: 'stripe_live_key',
  pypi: 'pypi_token',
  telegram: 'telegram_bot_token',
  discord: 'discord_webhook',
  digitalocean: 'digitalocean_token',
  atlassian: 'atlassian_token',
  age: 'age_secret_key',
  jwt: 'jwt',
  rsa_key: 'private_key',
  pkcs8_key: 'private_key',
  ec_key: 'private_key',
  openssh_key: 'private_key',
};

describe('secrets', () => {
  it.each(Object.entries(KINDS))('finds %s, exactly where it is', (form, kind) => {
    const secret = made(form);
    const text = `before (${secret}) behind`;
    expect(findings(text)).toMatchObject([
      { kind, path: '', in_name: false, start: 8, end: 8 + secret.length },
    ]);
  });

  it('says what was found and how certain it is, without the secret', () => {
    const result = evaluate({ headers: [`token ${GITHUB}`] });
    expect(result).toEqual({
      matched: true,
      confidence: 0.98,
      message: 'Found github_token',
      metadata: {
        findings: [
          { kind: 'github_token', path: '/headers/0', in_name: false, start: 6, end: 46, score: 0.98 },
        ],
        finding_count: 1,
        threshold: 0.5,
      },
      error: null,
    });
    expect(JSON.stringify(result)).not.toContain(GITHUB);
  });

  it('finds secrets in names of members, too', () => {
    expect(findings({ [GITHUB]: 1 })).toMatchObject([
      { kind: 'github_token', path: `/${GITHUB}`, in_name: true },
    ]);
  });

  it('is more certain of a token whose checksum is right', () => {
    const wrong = `${GITHUB.slice(0, -1)}${GITHUB.endsWith('A') ? 'B' : 'A'}`;
    expect(findings(wrong)).toMatchObject([{ kind: 'github_token', score: 0.85 }]);
  });

  it('leaves out texts of ignore, and finds the others', () => {
    const other = made('gitlab');
    expect(findings(`${GITHUB} ${other}`, { ignore: [GITHUB] })).toMatchObject([{ kind: 'gitlab_token' }]);
    expect(findings(`${GITHUB} `, { ignore: [GITHUB.slice(0, -1)] })).toHaveLength(1);
  });

  it('searches by the chosen rules only', () => {
    expect(findings(`${GITHUB} ${made('gitlab')}`, { rules: ['gitlab'] })).toMatchObject([
      { kind: 'gitlab_token' },
    ]);
  });

  it('lists one finding where a format and a name in front of it both tell', () => {
    expect(findings(`password = "${GITHUB}"`)).toMatchObject([{ kind: 'github_token' }]);
    expect(findings(`Authorization: Bearer ${made('jwt')}`)).toMatchObject([{ kind: 'jwt' }]);
  });

  it('gives passwords that are words, and placeholders, a score below the default threshold', () => {
    expect(findings('password = "sunshine"')).toEqual([]);
    expect(findings('password = "sunshine"', { threshold: 0.3 })).toMatchObject([{ score: 0.3 }]);
    const placeholder = `ghp_${'x'.repeat(36)}`;
    expect(findings(placeholder)).toEqual([]);
    expect(findings(placeholder, { threshold: 0.2 })).toMatchObject([{ kind: 'github_token', score: 0.26 }]);
  });

  it('finds what a comment for secretlint would hide', () => {
    expect(findings(`# secretlint-disable\n${GITHUB}`)).toHaveLength(1);
  });

  it('finds each of several secrets, in the order of the text', () => {
    const text = ['slack_bot', 'github_classic', 'gitlab', 'openai'].map(made).join('\n');
    expect(findings(text).map(({ kind }) => kind)).toEqual([
      'slack_token',
      'github_token',
      'gitlab_token',
      'openai_key',
    ]);
  });

  it('finds one at the end of a megabyte', () => {
    const text = `${'All work and no play. '.repeat(45_000)}${GITHUB}`;
    expect(findings(text)).toMatchObject([{ start: text.length - 40, end: text.length }]);
  });

  it('matches nothing without data or secrets', () => {
    expect(evaluate(null)).toMatchObject({ matched: false, message: 'No data to search' });
    expect(evaluate('hello')).toMatchObject({ matched: false, metadata: null });
  });
});

describe('a configuration of secrets', () => {
  it('is refused with the place of the problem and what may have been meant', () => {
    expect(problems({ rules: ['aws', 'githb'] })).toEqual([
      ['rules[1]', 'literal_error', expect.stringContaining('did you mean github?')],
    ]);
    expect(problems({ rules: [] })).toEqual([['rules', 'too_short', 'must have at least 1 item']]);
    expect(problems({ rules: [7] })).toEqual([['rules[0]', 'string_type', 'must be a string']]);
    expect(problems({ ignore: [''] })).toEqual([['ignore[0]', 'string_too_short', expect.any(String)]]);
    expect(problems({ ignore: 'x' })).toEqual([['ignore', 'list_type', expect.any(String)]]);
    expect(problems({ threshold: 0 })).toEqual([['threshold', 'value_error', expect.any(String)]]);
    expect(problems({ threshold: '0.5' })).toEqual([['threshold', 'value_error', expect.any(String)]]);
  });

  it('may be empty, or name everything', () => {
    expect(problems({})).toEqual([]);
    expect(problems({ rules: [...SECRET_RULE_IDS], ignore: ['x'], threshold: 1 })).toEqual([]);
    expect(problems({ rules: null, ignore: null })).toEqual([]);
  });
});

describe('the rules of secretlint', () => {
  it('are all run, or left out for a reason', () => {
    const used = new Set(['gcp', ...secretlintRules.map(({ id }) => id), ...UNUSED_LINT_RULES]);
    expect([...used].sort()).toEqual([...installedLintRules()].sort());
  });

  it('have names that configurations can choose', () => {
    expect(secretlintRules.map(({ id }) => id).filter((id) => !SECRET_RULE_IDS.includes(id))).toEqual([]);
    expect(new Set(SECRET_KINDS.map(({ name }) => name)).size).toBe(SECRET_KINDS.length);
  });
});
