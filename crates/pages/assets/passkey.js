// Passkeys: asks the server for a question, the device for an answer, and goes where the server says.
'use strict';

(() => {
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');

  /** Sends JSON to a path of ours; a refusal becomes an error that people can read. */
  async function send(path, token, body) {
    const answer = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', 'x-form-token': token },
      body: JSON.stringify(body),
    });
    // Signed out meanwhile: the sign-in page came back.
    if (answer.redirected) {
      location.assign(answer.url);
      return new Promise(() => {});
    }
    const said = await answer.json().catch(() => ({}));
    if (answer.ok) return said;
    if (said.to) {
      location.assign(said.to);
      return new Promise(() => {});
    }
    throw new Error(said.error_description ?? 'Something went wrong. Reload the page and try again.');
  }

  const listed = (list) => (list ?? []).map((entry) => ({ ...entry, id: bytes(entry.id) }));

  function answered(credential) {
    const { response } = credential;
    const part = (name) => (response[name] ? { [name]: text(response[name]) } : {});
    return {
      id: credential.id,
      rawId: text(credential.rawId),
      type: credential.type,
      extensions: {},
      response: {
        ...part('clientDataJSON'),
        ...part('attestationObject'),
        ...part('authenticatorData'),
        ...part('signature'),
        ...part('userHandle'),
      },
    };
  }

  async function add(token, name) {
    const { publicKey } = await send('/dashboard/account/passkeys/begin', token, {});
    publicKey.challenge = bytes(publicKey.challenge);
    publicKey.user.id = bytes(publicKey.user.id);
    publicKey.excludeCredentials = listed(publicKey.excludeCredentials);
    const credential = await navigator.credentials.create({ publicKey });
    const done = await send('/dashboard/account/passkeys/finish', token, { name, credential: answered(credential) });
    location.assign(done.to);
  }

  async function use(token, next) {
    const { publicKey } = await send('/login/passkey/begin', token, {});
    publicKey.challenge = bytes(publicKey.challenge);
    publicKey.allowCredentials = listed(publicKey.allowCredentials);
    const credential = await navigator.credentials.get({ publicKey });
    const done = await send('/login/passkey/finish', token, { next, credential: answered(credential) });
    location.assign(done.to);
  }

  const WORDS = {
    NotAllowedError: 'The request was canceled or timed out. Try again.',
    InvalidStateError: 'This device already has a passkey for your account.',
    SecurityError: 'Passkeys do not work at this address.',
    NotSupportedError: 'This device does not support this type of passkey.',
  };

  /** Runs one ceremony for a form: its button rests, and what goes wrong stands below it. */
  function wire(form, problem, ceremony) {
    // A passkey belongs to one name, and this server may be reached by others.
    if (form.dataset.host !== location.hostname) return;
    form.hidden = false;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const button = form.querySelector('button');
      button.disabled = true;
      problem.hidden = true;
      try {
        await ceremony();
      } catch (error) {
        problem.textContent = WORDS[error.name] ?? error.message;
        problem.hidden = false;
      } finally {
        button.disabled = false;
      }
    });
  }

  if (!window.PublicKeyCredential) return;
  const problem = document.getElementById('passkey-problem');
  const adding = document.getElementById('add-passkey');
  const using = document.getElementById('use-passkey');
  if (adding) wire(adding, problem, () => add(adding.dataset.token, adding.elements.name.value));
  if (using) wire(using, problem, () => use(using.dataset.token, using.dataset.next));
})();
