import { constants, createPrivateKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import http from 'node:http';
import Provider from 'oidc-provider';

/** An OpenID Connect issuer in a process of its own. Below `/control/` the test changes and asks it. */

const AUDIENCE = 'control-enforcement';
const ROLES = { alice: ['control-admin'], bob: ['control-reader'], mallory: ['other'] };
const CLIENTS = {
  root: { roles: ['control-admin'], agents: '*' },
  reader: { roles: ['control-reader'], agents: '*' },
  support: { roles: ['control-reader'], agents: ['Support-*'] },
  stranger: { roles: ['other'], agents: '*' },
  quick: { roles: ['control-reader'], agents: '*' },
};
const counts = { keys: 0, tokens: 0 };
let isAway = false;
let redirectUris = ['http://localhost/api/oidc/callback'];
let lifetimeSeconds = 600;
let keys = [newKey('RS256')];
let provider;
let url;

function newKey(alg) {
  const { privateKey } = alg.startsWith('E')
    ? alg === 'EdDSA'
      ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: randomUUID() };
}

function createProvider() {
  const made = new Provider(url, {
    jwks: { keys },
    // The browser keeps its session over a rotation.
    cookies: { keys: ['a-secret-of-the-test'] },
    clients: [
      ...Object.keys(CLIENTS).map((id) => ({
        client_id: id,
        client_secret: `${id}-secret`,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: keys[0].alg,
      })),
      {
        client_id: 'dashboard',
        client_secret: 'dashboard-secret',
        redirect_uris: redirectUris,
        id_token_signed_response_alg: keys[0].alg,
      },
    ],
    conformIdTokenClaims: false,
    claims: { openid: ['sub', 'roles'], profile: ['name'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, roles: ROLES[id] ?? [], name: `Name of ${id}` }),
    }),
    ttl: { IdToken: () => lifetimeSeconds, Session: 3600, Grant: 3600, Interaction: 600 },
    // `granted` is in access tokens only.
    extraTokenClaims: (_context, { clientId, accountId }) =>
      CLIENTS[clientId] ?? { granted: { roles: ROLES[accountId] ?? [] } },
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => `urn:${AUDIENCE}`,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, _resource, client) => ({
          scope: 'openid',
          audience: AUDIENCE,
          accessTokenFormat: 'jwt',
          accessTokenTTL: client.clientId === 'quick' ? 2 : lifetimeSeconds,
          jwt: { sign: { alg: keys[0].alg } },
        }),
      },
    },
  });
  return made.callback();
}

const base64url = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

const SIGNING = {
  ES256: { dsaEncoding: 'ieee-p1363' },
  PS256: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
};

/** A token with any claims, signed with the first key. */
function signed({ header, claims }) {
  const [key] = keys;
  const input = `${base64url({ alg: key.alg, kid: key.kid, ...header })}.${base64url(claims)}`;
  const privateKey = createPrivateKey({ key, format: 'jwk' });
  const signature = sign(key.alg === 'EdDSA' ? null : 'sha256', Buffer.from(input), {
    key: privateKey,
    ...SIGNING[key.alg],
  });
  return `${input}.${signature.toString('base64url')}`;
}

const CONTROLS = {
  counts: () => counts,
  sign: (body) => signed(body),
  rotate({ alg = 'RS256', keepsOld = false }) {
    keys = [newKey(alg), ...(keepsOld ? keys : [])];
    provider = createProvider();
  },
  away: (body) => {
    isAway = body;
  },
  configure(body) {
    redirectUris = body.redirectUris ?? redirectUris;
    lifetimeSeconds = body.lifetimeSeconds ?? lifetimeSeconds;
    provider = createProvider();
  },
};

const server = http.createServer(async (request, response) => {
  const path = request.url ?? '';
  if (path.startsWith('/control/')) {
    const chunks = await collect(request);
    const body = JSON.parse(Buffer.concat(chunks).toString() || 'null');
    const answer = CONTROLS[path.slice('/control/'.length)](body);
    response.end(JSON.stringify(answer ?? null));
    return;
  }
  if (isAway) {
    request.socket.destroy();
    return;
  }
  if (path.startsWith('/jwks')) counts.keys += 1;
  if (path.startsWith('/token')) counts.tokens += 1;
  provider(request, response);
});

async function collect(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks;
}

// At all addresses that localhost may stand for.
server.listen(0, () => {
  url = `http://localhost:${server.address().port}`;
  provider = createProvider();
  process.send?.({ url });
});
// The test has ended.
process.on('disconnect', () => process.exit());
