/** Buttons of the dashboard for actions that the user may not do. */
import type { Page } from "playwright-core";

/** Waits until the button is disabled, and expects it to say which right is missing. `right` is such as `patch applications/scale`. */
export async function expectDenied(
  page: Page,
  button: string,
  { right, namespace }: { readonly right: string; readonly namespace: string },
): Promise<void> {
  const denied = page.getByRole("button", { name: button, exact: true, disabled: true });
  await denied.waitFor();
  // A keyboard reaches it, and learns why.
  await denied.focus();
  await page.keyboard.press("Enter");
  await page
    .getByRole("status")
    .getByText(`You cannot do this: your roles in ${namespace} do not allow you to ${right}.`)
    .first()
    .waitFor();
}
