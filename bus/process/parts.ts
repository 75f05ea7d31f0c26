/** Bridge, workers, and gateway in one process. */
import type { Running, WaitFor } from "./frame.ts";

/** How to start each part. */
export interface PartStarts {
  bridge(): Promise<Running>;
  workers(): Promise<Running>;
  /** Undefined if no function has webhooks. */
  readonly gateway: (() => Promise<Running>) | undefined;
}

/** The parts that have started. */
type Parts = { -readonly [Name in keyof PartStarts]?: Running | undefined };

/**
 * Starts the bridge, then the workers, which need its streams, then the gateway. Each part is retried by itself. If one cannot
 * start, the others are stopped before its error is thrown.
 */
export async function startParts(starts: PartStarts, waitFor: WaitFor): Promise<Running> {
  const parts: Parts = {};
  try {
    parts.bridge = await waitFor("bridge not started", starts.bridge);
    parts.workers = await waitFor("workers not started", starts.workers);
    parts.gateway = starts.gateway && (await waitFor("gateway not started", starts.gateway));
  } catch (error) {
    // The error of the start is the one to report.
    await stopParts(parts).catch(() => undefined);
    throw error;
  }
  return { stop: () => stopParts(parts), notReady: () => reasonOf(parts) };
}

/**
 * The gateway accepts nothing more from here on, and answers started requests while the workers finish: a slow sender must not use
 * up their time. The bridge publishes what they write, so it stops after them.
 */
async function stopParts({ bridge, workers, gateway }: Parts): Promise<void> {
  await Promise.all([gateway?.stop(), workers?.stop().then(() => bridge?.stop()) ?? bridge?.stop()]);
}

function reasonOf(parts: Parts): string | undefined {
  const reasons = Object.values(parts).flatMap((part) => part?.notReady?.() ?? []);
  return reasons.length === 0 ? undefined : reasons.join("\n");
}
