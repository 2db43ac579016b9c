import { setTimeout as pause } from 'node:timers/promises';
import * as oauth from 'oauth4webapi';
import type { CommandContext } from './context.js';
import { CliError, messageOf } from './errors.js';
import { plain } from './output.js';

export interface DeviceLoginOptions {
  readonly issuer: string;
  readonly clientId: string | undefined;
  readonly scope: string;
}

const DEFAULT_INTERVAL_S = 5;

/** A token by the device flow (RFC 8628): a person opens an address in any browser and enters a code. */
export async function deviceLogin(
  { stderr, signal }: CommandContext,
  { issuer, clientId, scope }: DeviceLoginOptions,
): Promise<{ value: string; expires_at?: number }> {
  if (clientId === undefined) throw new CliError('the device flow needs a client', 'Give --client-id.');
  if (!URL.canParse(issuer))
    throw new CliError('--issuer must be an address', 'For example https://login.example.com.');
  const url = new URL(issuer);
  // An issuer on this machine may have no certificate.
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(url.hostname);
  const options = { signal, [oauth.allowInsecureRequests]: isLocal };
  const client: oauth.Client = { client_id: clientId };
  try {
    const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
    const asked = await oauth.deviceAuthorizationRequest(server, client, oauth.None(), { scope }, options);
    const device = await oauth.processDeviceAuthorizationResponse(server, client, asked);
    await stderr.write(plain(`Open ${device.verification_uri} and enter the code ${device.user_code}\n`));
    let intervalMs = (device.interval ?? DEFAULT_INTERVAL_S) * 1_000;
    for (;;) {
      await pause(intervalMs, undefined, { signal });
      const reply = await oauth.deviceCodeGrantRequest(
        server,
        client,
        oauth.None(),
        device.device_code,
        options,
      );
      try {
        const token = await oauth.processDeviceCodeResponse(server, client, reply);
        const { expires_in: lifetime } = token;
        return {
          value: token.access_token,
          ...(lifetime === undefined ? {} : { expires_at: Math.floor(Date.now() / 1_000) + lifetime }),
        };
      } catch (error) {
        const code = error instanceof oauth.ResponseBodyError ? error.error : undefined;
        if (code === 'slow_down') intervalMs += DEFAULT_INTERVAL_S * 1_000;
        else if (code !== 'authorization_pending') throw error;
      }
    }
  } catch (error) {
    if (signal.aborted || error instanceof CliError) throw error;
    const detail =
      error instanceof oauth.ResponseBodyError ? (error.error_description ?? error.error) : messageOf(error);
    throw new CliError(
      `the login at ${url.origin} failed: ${detail}`,
      'Check --issuer, --client-id and that the client may use the device flow.',
    );
  }
}
