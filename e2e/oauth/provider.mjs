// What the official TypeScript clients ask of a program that signs in: everything they want to keep, kept in memory.

export class Provider {
  stored = {};
  constructor(redirect) {
    this.redirectUrl = redirect;
    this.clientMetadata = {
      client_name: 'SDK test',
      redirect_uris: [redirect],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }
  state = () => 'a-state-of-the-test';
  clientInformation = () => this.stored.client;
  saveClientInformation = (client) => void (this.stored.client = client);
  tokens = () => this.stored.tokens;
  saveTokens = (tokens) => void (this.stored.tokens = tokens);
  saveCodeVerifier = (verifier) => void (this.stored.verifier = verifier);
  codeVerifier = () => this.stored.verifier;
  redirectToAuthorization = (url) => void (this.stored.url = url);
  invalidateCredentials = (what) => {
    this.invalidated = what;
    if (what !== 'verifier') delete this.stored.tokens;
  };
}
