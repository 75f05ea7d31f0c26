/** Writes that kpack's webhooks may refuse. */
import { blockedByRefusal } from "denrei";
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
    throw blockedByRefusal(error, (refused, message) => {
      const reason = kpackReasons[refused] ?? refused;
      const problem =
        reason === "KpackNotInstalled"
          ? "kpack's CRDs are missing, install kpack"
          : "kpack rejected the Image";
      return {
        reason,
        message: `${problem}: ${message.trim()}`,
        retryAfterMillis: retryMillisByReason[reason] ?? retryMillis,
      };
    });
  }
}

/** Only kpack's webhooks validate Images, so their errors are about kpack. */
const kpackReasons: Readonly<Record<string, string>> = {
  AdmissionWebhookUnavailable: "KpackUnavailable",
  AdmissionDenied: "ImageRefused",
  Invalid: "ImageRefused",
  KindNotInstalled: "KpackNotInstalled",
};
