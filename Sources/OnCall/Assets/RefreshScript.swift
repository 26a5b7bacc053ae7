/// The one script: loads the new contents of pages that change, and stores the reader's time zone in a cookie. Every page works without it.
///
/// It never moves what the reader is using: nothing is replaced while a pointer is down or was moved, a key pressed or the page scrolled a
/// moment ago, nor, for up to a minute, while something pressable is pointed at or has the focus, or text is selected. After replacing, the
/// part that was at the top of the screen is there again; what was unfolded stays so, and the focus is where it was.
enum RefreshScript {
    static let path = "/assets/pushwatch.js?v=\(AssetVersion.of(text))"

    static let text = """
        "use strict";
        (() => {
          const stillness = 5_000, waitLimit = 60_000;
          const main = document.getElementById("main");
          const clock = document.querySelector(".clock");
          const news = document.getElementById("news");
          const every = Number(document.body.dataset.refresh) * 1_000;

          // Pages come with the reader's own times once the server knows the zone. What was chosen by hand has no ~ and is left alone.
          function tellZone() {
            const kept = () => document.cookie.split("; ").find(c => c.startsWith("pushwatch_zone="))?.split("=")[1];
            const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
            const own = "~" + zone;
            if (!zone || kept() === own || (kept() && !kept().startsWith("~"))) return;
            document.cookie = `pushwatch_zone=${own}; Path=/; Max-Age=31536000; SameSite=Lax`;
            const isPage = document.querySelector("nav") !== null && !("answer" in document.body.dataset);
            if (isPage && kept() === own && new Date().getTimezoneOffset() !== 0) location.reload();
          }
          tellZone();
          if (!every) return;

          let touched = -Infinity, down = false, loaded = performance.now(), loading = false;
          const touch = () => { touched = performance.now(); };
          for (const kind of ["pointermove", "keydown", "wheel", "touchmove", "scroll"]) addEventListener(kind, touch, { passive: true });
          addEventListener("pointerdown", () => { down = true; touch(); }, { passive: true });
          for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => { down = false; touch(); }, { passive: true });

          const pressable = "a[href], button, input, select, textarea, summary";
          function isInUse() {
            const rest = performance.now() - touched;
            if (down || rest < stillness) return true;
            if (rest > waitLimit) return false;
            const selection = getSelection();
            return main.contains(document.activeElement) || main.querySelector(`:is(${pressable}):hover`) !== null
              || (selection !== null && !selection.isCollapsed && main.contains(selection.anchorNode));
          }

          const name = part => (part.querySelector("h2 a")?.getAttribute("href") || part.querySelector("h1, h2")?.textContent || "")
            + "|" + part.tagName + "|" + part.className.split(" ")[0];
          const parts = () => [...main.querySelectorAll(".state, .alert, .panel, .notice")];
          const controls = () => [...main.querySelectorAll(pressable)];
          const control = e => [e.tagName, e.getAttribute("href"), e.form?.getAttribute("action"), e.textContent].join("|");

          function put(fresh) {
            // A page that reported a fault has nothing around it yet.
            if (document.querySelector("nav") === null) return location.reload();
            const at = parts().find(part => part.getBoundingClientRect().bottom > 0);
            const place = at && { name: name(at), index: parts().indexOf(at), top: at.getBoundingClientRect().top };
            const open = new Set([...main.querySelectorAll("details[open] > summary")].map(e => e.textContent));
            const aside = [...main.querySelectorAll(".scroll, pre")].map(e => e.scrollLeft);
            const focus = main.contains(document.activeElement) ? control(document.activeElement) : null;
            const headline = main.querySelector("h1")?.textContent;

            main.replaceChildren(...document.importNode(fresh.getElementById("main"), true).childNodes);
            document.title = fresh.title;
            for (const selector of ["link[rel=icon]"]) {
              document.querySelector(selector)?.setAttribute("href", fresh.querySelector(selector)?.getAttribute("href") ?? "");
            }
            clock?.replaceChildren(...document.importNode(fresh.querySelector(".clock"), true).childNodes);
            clock?.classList.remove("warn");
            // What follows its link: the link stays, and the focus with it.
            const foot = document.querySelector(".foot");
            while (foot?.childNodes.length > 1) foot.lastChild.remove();
            foot?.append(...[...document.importNode(fresh.querySelector(".foot"), true).childNodes].slice(1));

            for (const e of main.querySelectorAll("details > summary")) if (open.has(e.textContent)) e.parentElement.open = true;
            [...main.querySelectorAll(".scroll, pre")].forEach((e, index) => { if (aside[index]) e.scrollLeft = aside[index]; });
            if (focus !== null) controls().find(e => control(e) === focus)?.focus({ preventScroll: true });
            if (place && scrollY > 0) {
              const same = parts().find(part => name(part) === place.name) ?? parts()[place.index];
              if (same) scrollBy({ top: same.getBoundingClientRect().top - place.top, behavior: "instant" });
            }
            const shown = main.querySelector("h1")?.textContent;
            if (news && shown !== headline) news.textContent = shown;
          }

          async function refresh() {
            loading = true;
            try {
              const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "manual", cache: "no-store" });
              // Signed out meanwhile: the form belongs on a page of its own.
              if (answer.type === "opaqueredirect") return location.reload();
              if (!answer.ok) throw new Error("status " + answer.status);
              const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
              // What was touched while it was on its way stays; the next one comes soon.
              if (!isInUse()) { put(fresh); loaded = performance.now(); }
            } catch {
              clock?.classList.add("warn");
              loaded = performance.now() - every / 2;
            } finally {
              loading = false;
            }
          }

          setInterval(() => {
            if (!loading && !document.hidden && performance.now() - loaded >= every && !isInUse()) refresh();
          }, 500);
          document.addEventListener("visibilitychange", () => { if (!document.hidden && !loading) refresh(); });
        })();

        """
}
