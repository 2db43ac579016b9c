import { useTitle } from '../ui/page/use-title.js';
import { SignInForm } from './sign-in-form.js';

/** The page of a browser that is not signed in. */
export function SignInPage() {
  useTitle('Sign in');
  return (
    <main className="sign-in">
      <SignInForm className="card">
        <h1>Control Enforcement Service</h1>
      </SignInForm>
    </main>
  );
}
