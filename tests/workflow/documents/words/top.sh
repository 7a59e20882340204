sort -rn "$2" | head -n "$4" > top.txt && echo TERMINATED top.txt
