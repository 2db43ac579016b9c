/** Says where people are managed: they are no objects of the service. */
export function People() {
  return (
    <section className="card" aria-label="People">
      <h2>People</h2>
      <p>
        People who sign in through an OpenID Connect issuer are managed there: the service stores none of
        them. Their tokens name their roles and namespaces, and the settings{' '}
        <code>SERVICE_OIDC_ROLE_MAP</code> and <code>SERVICE_OIDC_NAMESPACE_CLAIM</code> say what they mean
        here. Who does not use an issuer signs in with a key. Who changed what is in the audit log.
      </p>
    </section>
  );
}
