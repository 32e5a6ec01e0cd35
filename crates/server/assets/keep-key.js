for (const form of document.forms) form.action += location.hash;
for (const link of document.querySelectorAll("main a")) link.href += location.hash;