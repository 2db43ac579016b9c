import { type MouseEvent, useEffect, useState } from 'react';
import { flushDrafts } from '../data/drafts/flush-drafts.js';
import { dashboardPath } from '../data/rest-address.js';
import { readSessionConfig, type SessionConfig } from '../data/session-requests.js';
import { releasePage } from '../ui/page/leave-guard.js';

const PROBLEM_PARAMETER = 'sign_in_problem';

/** Why the browser came back from the issuer without a session. */
const PROBLEMS: Readonly<Record<string, string>> = {
  denied: 'The sign-in was refused or given up there.',
  expired: 'The sign-in took too long, or was used already. Try again.',
  insecure: 'Over plain http, sign-ins are taken at localhost only. Use https.',
  'no-role': 'You have no role for this service. Ask the administrator of your account.',
  unavailable: 'The sign-in cannot be reached now. Try again later.',
};
const OTHER_PROBLEM = 'The sign-in failed. The log of the service says why.';

/** The problem in the address of the page; null without one. */
export function problemInAddress(): string | null {
  const problem = new URLSearchParams(window.location.search).get(PROBLEM_PARAMETER);
  return problem === null ? null : (PROBLEMS[problem] ?? OTHER_PROBLEM);
}

/** A link to the sign-in of the issuer, which leads back to the page that is open; nothing without an issuer. */
export function IssuerSignIn() {
  const [offer, setOffer] = useState<SessionConfig['sign_in']>();
  useEffect(() => {
    let isGone = false;
    readSessionConfig().then(
      (config) => {
        if (!isGone) setOffer(config.sign_in);
      },
      // A key can still be typed; whether the server can be reached, its answer will tell.
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, []);
  if (offer === undefined) return null;
  const address = `${offer.path}?page=${encodeURIComponent(openPage())}`;
  const go = async (event: MouseEvent): Promise<void> => {
    event.preventDefault();
    // What was written is offered again on the way back; the browser need not ask.
    await flushDrafts();
    releasePage();
    window.location.assign(address);
  };
  return (
    <a className="action" href={address} onClick={go}>
      Sign in with {offer.name}
    </a>
  );
}

/** The path of the open page below that of the dashboard, with its query. */
function openPage(): string {
  const { pathname, search } = window.location;
  const query = new URLSearchParams(search);
  query.delete(PROBLEM_PARAMETER);
  const page = pathname.slice(`${dashboardPath}/`.length);
  return query.size === 0 ? page : `${page}?${query}`;
}
