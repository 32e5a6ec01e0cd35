// A fault that can be injected and healed, and that leaves nothing behind when either fails half-way.

/**
 * A fault. `inject(onHeal)` puts it in place and hands every step of its healing to `onHeal` before, or at once after, the step that
 * it takes back. `needs` names what it acts upon, so that a plan can avoid doubles.
 */
export function makeFault(name, what, needs, inject) {
  let steps = [];
  const heal = async () => {
    // The last one first. A step is forgotten when it has succeeded: if a node cannot start while its database is away, healing can
    // be tried again.
    while (steps.length > 0) {
      await steps.at(-1)();
      steps.pop();
    }
  };
  return {
    name,
    what,
    needs,
    active: () => steps.length > 0,
    /** Without effect while it is active. If it fails, what was in place already is taken back; `heal` tries again if that fails too. */
    async inject() {
      if (steps.length > 0) return;
      try {
        await inject((step) => steps.push(step));
      } catch (error) {
        await heal().catch(() => {});
        throw error;
      }
    },
    heal,
  };
}
