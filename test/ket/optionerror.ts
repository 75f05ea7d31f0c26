/** An invalid option or combination of options. Nothing was started. */
export class KetOptionError extends Error {
  override readonly name = "KetOptionError";
}
