/** Writes that kpack's webhooks may refuse. */
import { refusalReasonOf } from "../../../bus/kube/blocker.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import { retryMillis } from "../retry.ts";

/** Retry intervals for reasons that no event ends. Milliseconds. */
const retryMillisByReason: Readonly<Record<string, number>> = {
  KpackUnavailable: 10_000,
  KpackNotInstalled: 30_000,
};

/** Makes a write that kpack's webhooks validate. Throws a `BlockedError` when it is refused. */
export async function writeToKpack<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    const problem =
      reason === "KpackNotInstalled"
        ? "kpack's CRDs are missing, install kpack"
        : "kpack did not accept the Image";
    throw new BlockedError(
      reason,
      `${problem}: ${(error as Error).message.trim()}`,
      retryMillisByReason[reason] ?? retryMillis,
      { cause: error },
    );
  }
}

/** Only kpack's webhooks validate Images, so their errors are about kpack. */
const kpackReasons: Readonly<Record<string, string>> = {
  AdmissionWebhookUnavailable: "KpackUnavailable",
  AdmissionDenied: "ImageRefused",
  Invalid: "ImageRefused",
  KindNotInstalled: "KpackNotInstalled",
};

function reasonOf(error: unknown): string | undefined {
  const reason = refusalReasonOf(error);
  return reason && (kpackReasons[reason] ?? reason);
}
