import type { NotificationConfig } from '../../contract/config/notification-settings.js';
import { type AttemptResult, failed } from './attempt-result.js';
import type { Message } from './destination.js';
import { emailOf } from './formats.js';

export type SmtpConfig = NonNullable<NotificationConfig['smtp']>;

/** Sends e-mail. */
export interface Mailer {
  /** Sends one e-mail to all recipients, on a connection of its own. Never rejects. */
  send(recipients: readonly string[], message: Message, signal: AbortSignal): Promise<AttemptResult>;
}

/** The library is loaded with the first e-mail. `limitMs`: longest time that the server may take to answer a command. */
export function createMailer({ host, port, tls, login, from }: SmtpConfig, limitMs: number): Mailer {
  return {
    async send(recipients, message, signal) {
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({
        host,
        port,
        secure: tls === 'tls',
        requireTLS: tls === 'starttls',
        ignoreTLS: tls === 'none',
        ...(login === null ? {} : { auth: login }),
        connectionTimeout: limitMs,
        greetingTimeout: limitMs,
        socketTimeout: limitMs,
        dnsTimeout: limitMs,
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      const end = () => transport.close();
      signal.addEventListener('abort', end);
      try {
        const domain = from.slice(from.indexOf('@') + 1);
        const info = await transport.sendMail({
          from,
          to: [...recipients],
          // The same in each attempt, as the header webhook-id.
          messageId: `<${message.messageId}@${domain}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
          ...emailOf(message),
        });
        return { delivered: true, status: statusOf(info.response), error: null, retryAfterMs: null };
      } catch (error) {
        const { code = 'unknown', responseCode } = error as { code?: string; responseCode?: number };
        return failed(`the SMTP server did not take it (${code})`, responseCode ?? null);
      } finally {
        signal.removeEventListener('abort', end);
        transport.close();
      }
    },
  };
}

function statusOf(response: string): number | null {
  const status = Number(response.slice(0, 3));
  return Number.isInteger(status) && status > 0 ? status : null;
}
