import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import {
  forgetToken,
  isSendable,
  keepToken,
  readToken,
  takeTokenFromAddress,
  wasAccepted,
  whyRefused,
} from "./session.js";
import { leaveView } from "./overview/view.js";
import { Dashboard } from "./components/Dashboard.js";
import { SignIn } from "./components/SignIn.js";

// Paper is light even if the screen is dark. Charts are pixels, so this has them drawn again with the colors of paper.
const { classList } = document.documentElement;
addEventListener("beforeprint", () => classList.add("printing"));
addEventListener("afterprint", () => classList.remove("printing"));

const root = document.querySelector("#app");
if (root !== null) render(<App />, root);

function App() {
  const [token, setToken] = useState(readToken);
  const [reason, setReason] = useState<string>();
  const signIn = (given: string) => {
    keepToken(given);
    setReason(undefined);
    setToken(given);
  };
  useEffect(() => {
    // If a link with another token is opened in this tab, only the fragment changes.
    const read = () => setToken((known) => takeTokenFromAddress() ?? known);
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const signOut = useCallback(() => {
    forgetToken();
    leaveView(); // the next token may be that of another store, which is unlikely after a refused token
    setReason(undefined);
    setToken(undefined);
  }, []);
  const onRefused = useCallback(() => {
    setReason(token === undefined ? undefined : whyRefused(token, wasAccepted()));
    forgetToken();
    setToken(undefined);
  }, [token]);
  const isRefused = token !== undefined && !isSendable(token);
  useEffect(() => {
    if (isRefused) onRefused();
  }, [isRefused, onRefused]);
  if (isRefused) return null;
  if (token === undefined) return <SignIn reason={reason} onToken={signIn} />;
  return <Dashboard key={token} token={token} onSignOut={signOut} onRefused={onRefused} />;
}
