/** Text that the author of a pull request chooses. */
import { plainText } from "@denrei/functions/paas/apppipeline/plaintext";

/** As long as GitHub's branch names. */
const longest = 255;

/** One line of such a text, whose direction does not affect the text around it. */
export const PullText = ({ of: text }: { of: string }) => <bdi>{plainText(text, longest)}</bdi>;
