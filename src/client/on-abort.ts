interface Watch {
  readonly listeners: Set<() => void>;
  readonly fire: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/**
 * Calls `listener` when `signal` aborts; the returned function takes it back.
 *
 * The signal carries one event listener however many share it, and none when nobody listens: Node 20 warns of a leak at
 * the eleventh, and a hundred runs may well share a signal.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const watch = watches.get(signal) ?? startWatch(signal);
  const own = (): void => listener();
  watch.listeners.add(own);
  return () => {
    watch.listeners.delete(own);
    if (watch.listeners.size > 0 || watches.get(signal) !== watch) return;
    watches.delete(signal);
    signal.removeEventListener('abort', watch.fire);
  };
}

function startWatch(signal: AbortSignal): Watch {
  const listeners = new Set<() => void>();
  const fire = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const watch = { listeners, fire };
  watches.set(signal, watch);
  signal.addEventListener('abort', fire);
  return watch;
}
