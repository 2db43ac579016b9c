import { crc32 } from 'node:zlib';
import { parse } from 'yaml';
import { corpusFile, type Half, isIn, type Labelled } from '../corpus.support.js';

/**
 * Tokens are made here, from a fixed seed, and stand in no file: those that search repositories for leaked secrets would
 * report each. Only templates are stored, with the name of a form where the token goes.
 */

const DIGITS = '0123456789';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const HEX = '0123456789abcdef';
const WORD = DIGITS + LOWER + UPPER;
const BASE_64 = `${WORD}+/`;
const URL_64 = `${WORD}_-`;

/** Numbers below `below`, the same in each run (xorshift). */
function createNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

type Pick = (alphabet: string, length: number) => string;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

function checksumOf(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let at = 0; at < 6; at += 1) {
    digits = (`${DIGITS}${UPPER}${LOWER}`[rest % 62] ?? '') + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function pem(label: string, begin: string, pick: Pick, lines: number): string {
  const content = begin + pick(BASE_64, 64 * lines - begin.length);
  return [`-----BEGIN ${label}-----`, ...(content.match(/.{1,64}/g) ?? []), `-----END ${label}-----`].join(
    '\n',
  );
}

/** Forms of secrets, by name. Each begins with what its provider writes in front. */
export const SECRET_FORMS: Readonly<Record<string, (pick: Pick) => string>> = {
  aws_id: (pick) => `AKIA${pick('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
  aws_session_id: (pick) => `ASIA${pick('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
  aws_secret: (pick) => pick(BASE_64, 39) + pick(WORD, 1),
  github_classic: (pick) => {
    const body = pick(WORD, 30);
    return `ghp_${body}${checksumOf(body)}`;
  },
  github_oauth: (pick) => `gho_${pick(WORD, 36)}`,
  github_server: (pick) => `ghs_${pick(WORD, 36)}`,
  github_fine: (pick) => `github_pat_${pick(WORD, 22)}_${pick(WORD, 59)}`,
  gitlab: (pick) => `glpat-${pick(URL_64, 19)}${pick(WORD, 1)}`,
  npm: (pick) => {
    const body = pick(WORD, 30);
    return `npm_${body}${checksumOf(body)}`;
  },
  slack_bot: (pick) => `xoxb-${pick(DIGITS, 12)}-${pick(DIGITS, 12)}-${pick(WORD, 24)}`,
  slack_user: (pick) => `xoxp-${pick(DIGITS, 11)}-${pick(DIGITS, 11)}-${pick(DIGITS, 12)}-${pick(HEX, 32)}`,
  slack_hook: (pick) =>
    `https://hooks.slack.com/services/T${pick(UPPER + DIGITS, 8)}/B${pick(UPPER + DIGITS, 8)}/${pick(WORD, 24)}`,
  sendgrid: (pick) => `SG.${pick(URL_64, 22)}.${pick(URL_64, 43)}`,
  shopify: (pick) => `shpat_${pick(HEX, 32)}`,
  grafana: (pick) => `glsa_${pick(WORD, 32)}_${pick(HEX, 8)}`,
  openai: (pick) => `sk-proj-${pick(URL_64, 74)}T3BlbkFJ${pick(URL_64, 73)}${pick(WORD, 1)}`,
  openai_old: (pick) => `sk-${pick(WORD, 20)}T3BlbkFJ${pick(WORD, 20)}`,
  anthropic: (pick) => `sk-ant-api03-${pick(URL_64, 93)}AA`,
  groq: (pick) => `gsk_${pick(WORD, 52)}`,
  huggingface: (pick) => `hf_${pick(LOWER + UPPER, 34)}`,
  linear: (pick) => `lin_api_${pick(WORD, 40)}`,
  notion: (pick) => `ntn_${pick(DIGITS, 11)}${pick(WORD, 35)}`,
  vault: (pick) => `hvs.${pick(URL_64, 94)}${pick(WORD, 1)}`,
  vercel: (pick) => `vcp_${pick(WORD, 24)}`,
  databricks: (pick) => `dapi${pick(HEX, 32)}`,
  docker: (pick) => `dckr_pat_${pick(URL_64, 26)}${pick(WORD, 1)}`,
  figma: (pick) => `figd_${pick(URL_64, 42)}${pick(WORD, 1)}`,
  // It ends with two braces, whose last one is a group of its own in base64.
  onepassword: (pick) =>
    `ops_${base64(`{"signInAddress":"team.example","key":"A3-${pick(UPPER, 34)}","x":"${pick(HEX, 64)}","auth":{"salt":"${pick(WORD, 22)}"}}`)}`,
  google: (pick) => `AIza${pick(URL_64, 34)}${pick(WORD, 1)}`,
  google_secret: (pick) => `GOCSPX-${pick(URL_64, 27)}${pick(WORD, 1)}`,
  google_token: (pick) => `ya29.${pick(URL_64, 120)}`,
  stripe: (pick) => `sk_live_${pick(WORD, 32)}`,
  stripe_test: (pick) => `sk_test_${pick(WORD, 32)}`,
  stripe_hook: (pick) => `whsec_${pick(WORD, 32)}`,
  azure: (pick) =>
    `DefaultEndpointsProtocol=https;AccountName=${pick(LOWER, 8)};AccountKey=${pick(BASE_64, 86)}==;EndpointSuffix=core.windows.net`,
  pypi: (pick) => `pypi-AgEIcHlwaS5vcmc${pick(URL_64, 140)}`,
  telegram: (pick) => `${pick('123456789', 1)}${pick(DIGITS, 9)}:AA${pick(URL_64, 32)}${pick(WORD, 1)}`,
  discord: (pick) => `https://discord.com/api/webhooks/${pick('123456789', 18)}/${pick(URL_64, 68)}`,
  digitalocean: (pick) => `dop_v1_${pick(HEX, 64)}`,
  atlassian: (pick) => `ATATT3${pick(URL_64, 180)}=${pick(HEX, 8).toUpperCase()}`,
  age: (pick) => `AGE-SECRET-KEY-1${pick('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`,
  jwt: (pick) =>
    `${base64url('{"alg":"HS256","typ":"JWT"}')}.${base64url(`{"sub":"${pick(DIGITS, 8)}","exp":1893456000}`)}.${pick(URL_64, 43)}`,
  rsa_key: (pick) => pem('RSA PRIVATE KEY', 'MIIEowIBAAKCAQEA', pick, 24),
  pkcs8_key: (pick) => pem('PRIVATE KEY', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', pick, 25),
  ec_key: (pick) => pem('EC PRIVATE KEY', 'MHcCAQEEI', pick, 3).replace('MHcCAQEEI', 'MIGHAgEAMBMG'),
  openssh_key: (pick) => pem('OPENSSH PRIVATE KEY', 'b3BlbnNzaC1rZXktdjEAAAAA', pick, 6),
  pgp_key: (pick) => pem('PGP PRIVATE KEY BLOCK', 'lQdGBGXh', pick, 20),
  key_cut_off: (pick) => `-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA${pick(BASE_64, 160)}`,
  service_account: (pick) =>
    JSON.stringify({
      type: 'service_account',
      private_key_id: pick(HEX, 40),
      private_key: `${pem('PRIVATE KEY', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', pick, 25)}\n`,
      client_email: 'robot@project.example',
    }),
  password: (pick) =>
    `${pick(UPPER, 1)}${pick(LOWER, 5)}${pick('!%+?#', 1)}${pick(DIGITS, 3)}${pick(WORD, 4)}`,
  hex_secret: (pick) => pick(HEX, 40),
  random: (pick) => `${pick(WORD, 31)}7`,
  basic: (pick) => base64(`service:${pick(WORD, 16)}`),
};

/** Forms of texts that are no secrets. */
const PLAIN_FORMS: Readonly<Record<string, (pick: Pick) => string>> = {
  sha1: (pick) => pick(HEX, 40),
  sha256: (pick) => pick(HEX, 64),
  sha512_base64: (pick) => `${pick(BASE_64, 86)}==`,
  uuid: (pick) => `${pick(HEX, 8)}-${pick(HEX, 4)}-4${pick(HEX, 3)}-a${pick(HEX, 3)}-${pick(HEX, 12)}`,
  base64_image: (pick) => `data:image/png;base64,iVBORw0KGgoAAAANSUhEUg${pick(BASE_64, 400)}`,
  order: (pick) => `${pick(UPPER, 3)}-${pick(DIGITS, 8)}`,
  digits: (pick) => pick('123456789', 16),
  public_key: (pick) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${pick(BASE_64, 43)}`,
  certificate: (pick) => pem('CERTIFICATE', 'MIIDdzCCAl', pick, 18),
  public_pem: (pick) => pem('PUBLIC KEY', 'MIIBIjANBgkq', pick, 6),
};

interface Template {
  readonly text: string;
  readonly kinds?: readonly string[];
  /** How many texts are made of it. */
  readonly times?: number;
}

/** A half of the corpus: `{{form}}` in a template is replaced by a text of that form. */
export function secretsCorpus(half: Half): Labelled[] {
  const numbers = createNumbers(0x5eed);
  const pick: Pick = (alphabet, length) =>
    Array.from({ length }, () => alphabet[numbers(alphabet.length)] ?? '').join('');
  const forms = { ...SECRET_FORMS, ...PLAIN_FORMS };
  const texts: Labelled[] = [];
  for (const name of ['positives.yaml', 'negatives.yaml']) {
    const templates = parse(corpusFile(`secrets/${name}`)) as Template[];
    let index = 0;
    for (const { text, kinds = [], times = 1 } of templates) {
      for (let copy = 0; copy < times; copy += 1) {
        // All are made, so that each half is the same whichever is read.
        const made = text.replaceAll(/\{\{(\w+)\}\}/g, (_all, form: string) => {
          const make = forms[form];
          if (make === undefined) throw new Error(`the corpus has no form ${form}`);
          return make(pick);
        });
        if (isIn(half, index)) texts.push({ text: made, kinds });
        index += 1;
      }
    }
  }
  return texts;
}
