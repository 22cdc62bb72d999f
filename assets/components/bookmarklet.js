// A bookmark: brings the selected words and the address of their post, or of the page, into the app.
(()=>{const s=getSelection(),n=s.anchorNode,e=n&&(n.closest?n:n.parentElement),p=e&&e.closest("article"),a=p&&p.querySelector('a[href*="/status/"]');open(__APP__+"?"+new URLSearchParams({post:String(s).slice(0,5000),url:a?a.href:location.href}))})()
