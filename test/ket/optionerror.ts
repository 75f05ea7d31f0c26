/** An option, or a combination of options, that a run refuses. Nothing was started. */
export class KetOptionError extends Error {
  override readonly name = "KetOptionError";
}
